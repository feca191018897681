// Package words refuses words of the project's early, private vocabulary where users read: in the API's comments, messages, the chart and
// the docs. Its tests print each with the word that the field uses.
package words
