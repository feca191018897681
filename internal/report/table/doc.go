// Package table renders a table of text as HTML or Markdown, without empty columns. In a narrow window a row becomes
// a card.
package table
