// Package chart draws: places on axes, round ticks, marks, and the templates that print them as SVG. It knows no run: what is drawn
// comes in as numbers and words.
package chart
