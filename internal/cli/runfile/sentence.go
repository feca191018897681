package runfile

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// How the schema refuses a value: another type, one out of bounds, what is too short or has too few items, and another form.
var (
	otherType   = regexp.MustCompile(`^must be of type (\w+): "(\w+)"$`)
	outOfBounds = regexp.MustCompile(`^should be (less|greater) than or equal to (\S+)$`)
	tooShort    = regexp.MustCompile(`^should be at least (\d+) chars long$`)
	tooFew      = regexp.MustCompile(`^should have at least (\d+) items$`)
	tooMuch     = regexp.MustCompile(`^(?:may not be more than|must have at most) (\d+) (?:bytes|items)$`)
	otherForm   = regexp.MustCompile(`^should match '(.*)'$`)
)

// sentence says what is wrong with a field, and the way out.
func sentence(path string, e *field.Error) string {
	return about(path, fault(e, strings.TrimPrefix(e.Detail, path+" in body "))+shorter(path, e))
}

// about puts the path of a field before what is said about it. The whole object has none.
func about(path, text string) string {
	if path == "" {
		return text
	}
	return path + ": " + text
}

// shorter is a way out beside fewer characters for a text that is too long; empty if there is none.
func shorter(path string, e *field.Error) string {
	switch {
	case e.Type != field.ErrorTypeTooLong || !strings.HasSuffix(path, ".body"):
		return ""
	case strings.HasSuffix(path, ".expect.body"):
		return ", or remove it: bodies are then compared with the first of their trial"
	}
	return ", or let a script make the requests (wrk, k6)"
}

// fault is the sentence without the field.
func fault(e *field.Error, detail string) string {
	switch e.Type {
	case field.ErrorTypeRequired:
		return "it is missing: give it a value"
	case field.ErrorTypeNotSupported:
		return fmt.Sprintf("%s is not one of its values: choose from %s", shown(e.BadValue), strings.ReplaceAll(strings.TrimPrefix(detail, "supported values: "), `"`, ""))
	case field.ErrorTypeDuplicate:
		return duplicate(e.BadValue)
	case field.ErrorTypeTooLong:
		if found := tooMuch.FindStringSubmatch(detail); found != nil {
			return "it is too long: use at most " + found[1] + " characters"
		}
	case field.ErrorTypeTooMany:
		if found := tooMuch.FindStringSubmatch(detail); found != nil {
			return fmt.Sprintf("it has %v items: give at most %s", e.BadValue, found[1])
		}
	case field.ErrorTypeInvalid, field.ErrorTypeTypeInvalid:
		return refused(e.BadValue, detail)
	default:
	}
	return e.ErrorBody()
}

// duplicate says which item of a list is there twice.
func duplicate(item any) string {
	keys, ok := item.(map[string]any)
	if !ok {
		return shown(item) + " is there twice: remove one"
	}
	var same []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		same = append(same, key+" "+shown(keys[key]))
	}
	return "an earlier one has the " + strings.Join(same, " and ") + " too: change or remove one"
}

// refused says why a value cannot be taken.
func refused(value any, detail string) string {
	if found := otherType.FindStringSubmatch(detail); found != nil {
		return mistyped(found[1], found[2])
	}
	if found := outOfBounds.FindStringSubmatch(detail); found != nil {
		if found[1] == "less" {
			return fmt.Sprintf("%v is too large: give at most %s", value, found[2])
		}
		return fmt.Sprintf("%v is too small: give at least %s", value, found[2])
	}
	if found := tooShort.FindStringSubmatch(detail); found != nil {
		if value == "" {
			return "it is empty: give it a value, or remove it"
		}
		return "it is too short: use at least " + found[1] + " characters"
	}
	if found := tooFew.FindStringSubmatch(detail); found != nil {
		return fmt.Sprintf("it has %v items: give at least %s", value, found[1])
	}
	if found := otherForm.FindStringSubmatch(detail); found != nil {
		if strings.Contains(found[1], "[KMGTPE]i") {
			return shown(value) + " is no quantity: write one such as 256Mi or 0.5"
		}
		return shown(value) + " does not have the form " + found[1]
	}
	return shown(value) + " " + detail
}

// shown returns a value as users know it: a text in quotes, and of an object or a list only what it is.
func shown(value any) string {
	switch value := value.(type) {
	case nil:
		return "no value"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(value)
	default:
		return fmt.Sprint(value)
	}
}

// types are the names that the schema has for types of Go.
var types = map[string]string{"int32": "integer", "int64": "integer", "float64": "number"}

// mistyped says that a value has another type than it must have.
func mistyped(must, is string) string {
	must, is = cmp.Or(types[must], must), cmp.Or(types[is], is)
	text := fmt.Sprintf("it must be of type %s, and %s is given", must, is)
	switch {
	case is == "null":
		return "it has no value: give it one, or remove it"
	case must == "string" && (is == "boolean" || is == "integer" || is == "number"): // YAML reads y, n, on and off as booleans.
		return text + ": put it in quotes"
	}
	return text
}
