// Package chart draws axes, ticks and marks, and has the templates that print them as SVG. It knows no run.
package chart
