package phrase

// englishSettings are the words of what implementations get beside image and command.
var englishSettings = map[string]string{
	"settings.title": "Settings that differ",
	"settings.lead":  "What the implementations were given beside image and command, and what those that speak TLS agreed on with their clients, where it is not the same for all of them: part of every difference may come from it.",
	"settings.none":  "not set",
	"settings.tls":   "TLS with %s", "settings.plain": "none",
	"th.setting": "setting",
}
