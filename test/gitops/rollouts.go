package gitops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/expr-lang/expr"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

// metric is the web metric of an AnalysisTemplate, as far as needed.
type metric struct {
	SuccessCondition string `json:"successCondition"`
	FailureCondition string `json:"failureCondition"`
	Provider         struct {
		Web struct {
			Method  string `json:"method"`
			URL     string `json:"url"`
			Headers []struct {
				Key   string `json:"key"`
				Value string `json:"value"`
			} `json:"headers"`
			JSONBody json.RawMessage `json:"jsonBody"`
			JSONPath string          `json:"jsonPath"`
		} `json:"web"`
	} `json:"provider"`
}

// ArgoRollouts evaluates an AnalysisTemplate with one web metric: Successful, Failed, Inconclusive or Error, and the value or the error. It uses the
// same libraries as Argo Rollouts for path and conditions.
func ArgoRollouts(template string, args map[string]string, way http.RoundTripper) (phase, value string, err error) {
	m, err := metricOf(template, args)
	if err != nil {
		return "", "", err
	}
	web := m.Provider.Web
	q, err := http.NewRequest(web.Method, web.URL, bytes.NewReader(web.JSONBody))
	if err != nil {
		return "", "", fmt.Errorf("making the request: %w", err)
	}
	for _, h := range web.Headers {
		q.Header.Set(h.Key, h.Value)
	}
	answer, err := (&http.Client{Transport: way}).Do(q)
	if err != nil {
		return "", "", fmt.Errorf("asking: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", "", fmt.Errorf("reading the answer: %w", err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return "Error", fmt.Sprintf("received non 2xx response code: %d", answer.StatusCode), nil
	}
	return m.judge(text)
}

// metricOf reads a template's metric and inserts the arguments.
func metricOf(template string, args map[string]string) (metric, error) {
	var read struct {
		Spec struct {
			Metrics []any `json:"metrics"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(template), &read); err != nil || len(read.Spec.Metrics) != 1 {
		return metric{}, fmt.Errorf("the template has %d metrics, and must have one: %w", len(read.Spec.Metrics), err)
	}
	text, err := json.Marshal(read.Spec.Metrics[0])
	if err != nil {
		return metric{}, fmt.Errorf("writing the metric: %w", err)
	}
	filled := string(text)
	for name, value := range args {
		quoted, err := json.Marshal(value)
		if err != nil {
			return metric{}, fmt.Errorf("writing the argument %s: %w", name, err)
		}
		filled = strings.ReplaceAll(filled, "{{args."+name+"}}", string(quoted[1:len(quoted)-1]))
	}
	if _, rest, missing := strings.Cut(filled, "{{args."); missing {
		return metric{}, fmt.Errorf("the argument %.20q has no value", rest)
	}
	var m metric
	if err := json.Unmarshal([]byte(filled), &m); err != nil {
		return metric{}, fmt.Errorf("reading the metric: %w", err)
	}
	return m, nil
}

// judge evaluates an answer. One that is not JSON passes.
func (m metric) judge(answer []byte) (phase, value string, err error) {
	if !json.Valid(answer) {
		return "Successful", string(answer), nil
	}
	var data any
	if err := json.Unmarshal(answer, &data); err != nil {
		return "", "", fmt.Errorf("reading the answer: %w", err)
	}
	path := jsonpath.New("metrics").AllowMissingKeys(true)
	if err := path.Parse(m.Provider.Web.JSONPath); err != nil {
		return "", "", fmt.Errorf("reading the path: %w", err)
	}
	found, err := path.FindResults(data)
	if err != nil {
		return "", "", fmt.Errorf("following the path: %w", err)
	}
	if len(found) == 0 || len(found[0]) == 0 {
		return "Error", m.Provider.Web.JSONPath + " is not found", nil
	}
	result := found[0][0].Interface()
	success, err := holds(m.SuccessCondition, result)
	if err != nil {
		return "", "", err
	}
	failure, err := holds(m.FailureCondition, result)
	if err != nil {
		return "", "", err
	}
	switch {
	case failure:
		phase = "Failed"
	case success:
		phase = "Successful"
	default:
		phase = "Inconclusive"
	}
	return phase, fmt.Sprint(result), nil
}

func holds(condition string, result any) (bool, error) {
	env := map[string]any{"result": result}
	program, err := expr.Compile(condition, expr.Env(env), expr.AsBool())
	if err != nil {
		return false, fmt.Errorf("compiling %q: %w", condition, err)
	}
	value, err := expr.Run(program, env)
	if err != nil {
		return false, fmt.Errorf("evaluating %q: %w", condition, err)
	}
	yes, _ := value.(bool)
	return yes, nil
}
