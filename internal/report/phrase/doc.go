// Package phrase puts what a table holds into phrases: an effect with its interval, who has won and why nobody has, objectives, noise
// floors, and the lines that a status has room for. It lays nothing out and draws nothing.
package phrase
