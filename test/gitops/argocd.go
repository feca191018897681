package gitops

import (
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/runtime"
)

// ArgoCD returns an object's health by a script of Argo CD (Progressing, Degraded, Healthy or Suspended) and its message.
func ArgoCD(script string, object runtime.Object) (state, message string, err error) {
	text, err := os.ReadFile(script)
	if err != nil {
		return "", "", fmt.Errorf("reading the health script: %w", err)
	}
	return health(string(text), object)
}

func health(script string, object any) (state, message string, err error) {
	answer, err := evaluate(script, object)
	if err != nil {
		return "", "", fmt.Errorf("running the health script: %w", err)
	}
	said, ok := answer.RawGetString("message").(lua.LString)
	if !ok || said == "" {
		return "", "", fmt.Errorf("the health script answers without a message: %s", script)
	}
	return answer.RawGetString("status").String(), string(said), nil
}

// annotated returns an object's annotations after an action of Argo CD.
func annotated(script string, object any) (map[string]string, error) {
	answer, err := evaluate(script, object)
	if err != nil {
		return nil, fmt.Errorf("running the action: %w", err)
	}
	all := map[string]string{}
	if metadata, ok := answer.RawGetString("metadata").(*lua.LTable); ok {
		if annotations, ok := metadata.RawGetString("annotations").(*lua.LTable); ok {
			annotations.ForEach(func(key, value lua.LValue) { all[key.String()] = value.String() })
		}
	}
	return all, nil
}

// evaluate runs a script on an object and returns its result. The script has the same libraries as in Argo CD: of os only the time.
func evaluate(script string, object any) (*lua.LTable, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("writing the object: %w", err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("reading the object: %w", err)
	}
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}, {lua.OsLibName, openTime}} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(library.open), Protect: true}, lua.LString(library.name)); err != nil {
			return nil, fmt.Errorf("opening Lua's library %q: %w", library.name, err)
		}
	}
	l.SetGlobal("obj", toLua(l, value))
	if err := l.DoString(script); err != nil {
		return nil, fmt.Errorf("running it: %w", err)
	}
	answer, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("it answers %v, and no table", l.Get(-1))
	}
	return answer, nil
}

func openTime(l *lua.LState) int {
	lua.OpenOs(l)
	library, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		l.RaiseError("os is no library")
		return 0
	}
	var others []lua.LValue
	library.ForEach(func(name, _ lua.LValue) {
		if name.String() != "date" && name.String() != "time" {
			others = append(others, name)
		}
	})
	for _, name := range others {
		library.RawSet(name, lua.LNil)
	}
	return 1
}

func toLua(l *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case string:
		return lua.LString(value)
	case float64:
		return lua.LNumber(value)
	case bool:
		return lua.LBool(value)
	case []any:
		table := l.NewTable()
		for _, item := range value {
			table.Append(toLua(l, item))
		}
		return table
	case map[string]any:
		table := l.NewTable()
		for key, item := range value {
			table.RawSetString(key, toLua(l, item))
		}
		return table
	}
	return lua.LNil
}
