// Package unwrap reads the lines of a program's output without additions of other programs. It removes encodings of Windows, gzip, colors and prefixes of
// logs. It reads a stream in linear time and keeps one line in memory. Lines are untrusted. The package is pure.
package unwrap
