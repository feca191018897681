package house

import (
	"os"
	"regexp"
	"testing"
)

func TestDevelopmentContainerHasTheGoVersionOfGoMod(t *testing.T) {
	version := func(file, pattern string) string {
		content, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(content)
		if found == nil {
			t.Fatalf("%s names no version of Go", file)
		}
		return string(found[1])
	}
	module := version("go.mod", `(?m)^go (\d+\.\d+)`)
	container := version(".devcontainer/devcontainer.json", `golang:(\d+\.\d+)-`)
	if container != module {
		t.Errorf("the development container has Go %s, go.mod asks for %s", container, module)
	}
}
