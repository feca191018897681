package role

import (
	"errors"
	"flag"
	"strings"

	"loadstone.dev/loadstone/internal/record"
)

// symbolFlag adds a flag that may be given several times: a symbol that claims about the server or the program ask for.
func symbolFlag(flags *flag.FlagSet) *[]string {
	var list []string
	flags.Func("symbol", "a symbol that claims ask for; may be given again", func(name string) error {
		list = append(list, name)
		return nil
	})
	return &list
}

// replyFlag adds a flag that may be given several times: a path, a blank, and the text that claims expect in the server's answer.
func replyFlag(flags *flag.FlagSet) *[]record.Reply {
	var list []record.Reply
	flags.Func("reply", "a path and, after a blank, the text that claims expect in the answer; may be given again", func(value string) error {
		path, text, ok := strings.Cut(value, " ")
		if !ok || text == "" {
			return errors.New("a path, a blank and a text are expected")
		}
		list = append(list, record.Reply{Path: path, Text: text})
		return nil
	})
	return &list
}
