package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
)

// logs says how the operator writes its log.
type logs struct{ level, format string }

func (l *logs) addFlags(f *flag.FlagSet) {
	f.StringVar(&l.level, "log-level", "info", "the least important messages that are logged: debug, info, warn or error")
	f.StringVar(&l.format, "log-format", "json", "the format of the log: json or text")
}

// handler writes what is logged.
func (l *logs) handler(out io.Writer) (slog.Handler, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.level)); err != nil {
		return nil, fmt.Errorf("-log-level is %q: set it to debug, info, warn or error", l.level)
	}
	options := &slog.HandlerOptions{Level: level}
	switch l.format {
	case "json":
		return slog.NewJSONHandler(out, options), nil
	case "text":
		return slog.NewTextHandler(out, options), nil
	}
	return nil, fmt.Errorf("-log-format is %q: set it to json or text", l.format)
}
