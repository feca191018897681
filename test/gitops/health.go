package gitops

import (
	"encoding/json"
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Flux is how Flux reads an object: InProgress, Failed or Current, and why.
func Flux(object runtime.Object) (state, message string, err error) {
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return "", "", fmt.Errorf("reading the object: %w", err)
	}
	r, err := status.Compute(&unstructured.Unstructured{Object: o})
	if err != nil {
		return "", "", fmt.Errorf("asking kstatus: %w", err)
	}
	return r.Status.String(), r.Message, nil
}

// ArgoCD is how Argo CD reads an object by the script in a file: Progressing, Degraded, Healthy or Suspended, and why. The script has the libraries
// that Argo CD opens for it, and no others.
func ArgoCD(script string, object runtime.Object) (state, message string, err error) {
	text, err := json.Marshal(object)
	if err != nil {
		return "", "", fmt.Errorf("writing the object: %w", err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return "", "", fmt.Errorf("reading the object: %w", err)
	}
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return "", "", fmt.Errorf("opening Lua's library %q: %w", name, err)
		}
	}
	l.SetGlobal("obj", toLua(l, value))
	if err := l.DoFile(script); err != nil {
		return "", "", fmt.Errorf("running the health script: %w", err)
	}
	answer, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", fmt.Errorf("%s answers %v, and no table", script, l.Get(-1))
	}
	said, ok := answer.RawGetString("message").(lua.LString)
	if !ok || said == "" {
		return "", "", fmt.Errorf("%s answers without a message", script)
	}
	return answer.RawGetString("status").String(), string(said), nil
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
