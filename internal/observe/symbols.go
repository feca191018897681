package observe

import "flag"

// SymbolFlag adds a flag that may be given several times: a symbol that claims about the server or the program ask for.
func SymbolFlag(flags *flag.FlagSet) *[]string {
	var list []string
	flags.Func("symbol", "a symbol that claims ask for; may be given again", func(name string) error {
		list = append(list, name)
		return nil
	})
	return &list
}
