package docs_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// placeholders are parts that readers replace.
var placeholders = strings.NewReplacer(
	"node NODE ", "node node-1 ", "cordon NODE ", "cordon node-1 ", "YOUR_REGISTRY", "registry.example", "YOUR_TAG", "v1", "NEW_TAG", "v2",
	"access-key=NAME", "access-key="+storeUser, "secret-key=SECRET", "secret-key="+storePassword, "--namespace NAMESPACE", "--namespace default",
	"loadstone.dev NAME ", "loadstone.dev quick ", "/NAME", "/quick", "/proc/PID/", "/proc/self/", " [NAME...]", "",
)

var (
	// environment are the assignments before a command.
	environment = regexp.MustCompile(`^([A-Z_]+=\S+( |$))+`)
	// ofPATH matches the installed program.
	ofPATH = regexp.MustCompile(`(^|\| )loadstone `)
	// blocks are fenced code, inline is code in a sentence, and indented is indented code.
	blocks   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)\n```$")
	inline   = regexp.MustCompile("`([^`\n]+)`")
	indented = regexp.MustCompile(`(?m)^    (\S.*)$`)
	examples = regexp.MustCompile("(?s)\n### Examples\n\n```\n(.*?)\n```\n")
	// program matches the first word of a command in mixed text.
	program = regexp.MustCompile(`^(bin/loadstone|make|kubectl|helm|go|docker|apt-get|man|rm|cat|grep|ctr|eval|hack/\S+\.sh)$`)
)

func fenced(page, language string) []string {
	var found []string
	for _, m := range blocks.FindAllStringSubmatch(page, -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	return found
}

// typed returns each command of the pages once: true for complete commands, false for those in sentences, which may lack arguments.
// TestDocumentedAnalyzeExampleIsCurrent in internal/cli runs blocks with output.
func typed(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, page := range pages(t) {
		page = strings.ReplaceAll(page, "\\\n", " ")
		prose := blocks.ReplaceAllString(page, "")
		for _, block := range fenced(page, "bash") {
			for _, line := range commands(block) {
				all[line] = true
			}
		}
		for _, m := range examples.FindAllStringSubmatch(page, -1) {
			for _, line := range commands(m[1]) {
				all[line] = true
			}
		}
		for _, m := range indented.FindAllStringSubmatch(prose, -1) {
			for _, line := range commands(m[1]) {
				if isCommand(line) {
					all[line] = true
				}
			}
		}
		for _, m := range inline.FindAllStringSubmatch(prose, -1) {
			for _, line := range commands(m[1]) {
				if _, known := all[line]; !known && isCommand(line) {
					all[line] = false
				}
			}
		}
	}
	return all
}

// commands returns the lines of a block without comments.
func commands(block string) []string {
	var all []string
	for line := range strings.SplitSeq(block, "\n") {
		line, _, _ = strings.Cut(line, " #")
		for part := range strings.SplitSeq(line, "&&") {
			part = strings.Join(strings.Fields(placeholders.Replace(part+" ")), " ")
			if part != "" {
				all = append(all, ofPATH.ReplaceAllString(part, "${1}bin/loadstone "))
			}
		}
	}
	return all
}

// isCommand reports whether a text is a command and not only a program's name.
func isCommand(text string) bool {
	words := words(text)
	return len(words) > 0 && program.MatchString(words[0]) && (len(words) > 1 || strings.HasPrefix(words[0], "hack/"))
}

func words(line string) []string { return strings.Fields(environment.ReplaceAllString(line, "")) }

func TestCommandsAreFoundWhereverTheyStand(t *testing.T) {
	got := typed(t)
	for line, whole := range map[string]bool{
		"bin/loadstone run mine.yaml":                                    true,  // a block of the README
		"hack/cluster/build.sh":                                          true,  // before &&
		"bin/loadstone suite history checkout --fail-within 5":           false, // a sentence
		"bin/loadstone init | bin/loadstone validate -":                  true,  // an example of a command
		"make demo-cluster":                                              true,  // a block of a tutorial
		"hack/cluster/down.sh":                                           true,  // an indented block
		"helm test loadstone --namespace loadstone-system --timeout 10m": false,
	} {
		if is, found := got[line]; !found || is != whole {
			t.Errorf("%s is found: %v, and stands by itself: %v", line, found, is)
		}
	}
	for _, no := range slices.Sorted(maps.Keys(got)) {
		if strings.ContainsAny(no, "`") || no == "make" {
			t.Errorf("%q is taken for a command", no)
		}
	}
}
