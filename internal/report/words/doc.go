// Package words holds every word of a report, by keys, so that another language is another set of the same keys. It knows neither what
// is said nor where: package phrase makes sentences of what a table holds, and sections take captions and headings from here.
package words
