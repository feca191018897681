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

// Messages of the schema: wrong type, out of bounds, too short, too few items, and wrong format.
var (
	otherType   = regexp.MustCompile(`^must be of type (\w+): "(\w+)"$`)
	outOfBounds = regexp.MustCompile(`^should be (less|greater) than or equal to (\S+)$`)
	tooShort    = regexp.MustCompile(`^should be at least (\d+) chars long$`)
	tooFew      = regexp.MustCompile(`^should have at least (\d+) items$`)
	tooMuch     = regexp.MustCompile(`^(?:may not be more than|must have at most) (\d+) (?:bytes|items)$`)
	// pastRun matches an item of against.runs, formerly an object store prefix.
	pastRun   = regexp.MustCompile(`\.against\.runs\[\d+\]$`)
	otherForm = regexp.MustCompile(`^should match '(.*)'$`)
)

func sentence(object map[string]any, path string, e *field.Error) string {
	detail := strings.TrimPrefix(e.Detail, path+" in body ")
	if found := otherType.FindStringSubmatch(detail); found != nil && pastRun.MatchString(path) {
		return about(path, fmt.Sprintf("%q is no earlier run: write {name: NAME, uid: UID, manifestSHA256: DIGEST} with metadata.name, metadata.uid and status.report.manifestSHA256 of the BenchmarkRun, "+
			"and prefix: PREFIX if it has spec.artifacts.prefix", fmt.Sprint(valueAt(object, path))))
	} else if found != nil {
		return about(path, mistyped(found[1], found[2], valueAt(object, path)))
	}
	return about(path, fault(e, detail)+shorter(path, e))
}

func valueAt(object map[string]any, path string) any {
	var value any = object
	for _, step := range steps(path) {
		switch holder := value.(type) {
		case map[string]any:
			value = holder[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(holder) {
				return nil
			}
			value = holder[i]
		default:
			return nil
		}
	}
	return value
}

// about puts the path of a field before a sentence. The whole object has no path.
func about(path, text string) string {
	if path == "" {
		return text
	}
	return path + ": " + text
}

// shorter suggests an alternative for a text that is too long; empty if none.
func shorter(path string, e *field.Error) string {
	switch {
	case e.Type != field.ErrorTypeTooLong || !strings.HasSuffix(path, ".body"):
		return ""
	case strings.HasSuffix(path, ".expect.body"):
		return ", or remove it: each body is then compared with the first one of its trial"
	}
	return ", or let a script make the requests (wrk, k6)"
}

func fault(e *field.Error, detail string) string {
	switch e.Type {
	case field.ErrorTypeRequired:
		return "missing: set it"
	case field.ErrorTypeNotSupported:
		return fmt.Sprintf("unknown value %s: choose from %s", shown(e.BadValue), strings.ReplaceAll(strings.TrimPrefix(detail, "supported values: "), `"`, ""))
	case field.ErrorTypeDuplicate:
		return duplicate(e.BadValue)
	case field.ErrorTypeTooLong:
		if found := tooMuch.FindStringSubmatch(detail); found != nil {
			return "too long: use at most " + found[1] + " characters"
		}
	case field.ErrorTypeTooMany:
		if found := tooMuch.FindStringSubmatch(detail); found != nil {
			return fmt.Sprintf("%v items are too many: use at most %s", e.BadValue, found[1])
		}
	case field.ErrorTypeInvalid, field.ErrorTypeTypeInvalid:
		return refused(e.BadValue, detail)
	default:
	}
	return e.ErrorBody()
}

func duplicate(item any) string {
	keys, ok := item.(map[string]any)
	if !ok {
		return shown(item) + " is listed twice: remove one"
	}
	var same []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		same = append(same, key+" "+shown(keys[key]))
	}
	return "an earlier item also has " + strings.Join(same, " and ") + ": change or remove one"
}

func refused(value any, detail string) string {
	if found := outOfBounds.FindStringSubmatch(detail); found != nil {
		if found[1] == "less" {
			return fmt.Sprintf("%v is too large: use at most %s", value, found[2])
		}
		return fmt.Sprintf("%v is too small: use at least %s", value, found[2])
	}
	if found := tooShort.FindStringSubmatch(detail); found != nil {
		if value == "" {
			return "empty: set a value, or remove it"
		}
		return "too short: use at least " + found[1] + " characters"
	}
	if found := tooFew.FindStringSubmatch(detail); found != nil {
		return fmt.Sprintf("%v items are too few: use at least %s", value, found[1])
	}
	if found := otherForm.FindStringSubmatch(detail); found != nil {
		if strings.Contains(found[1], "[KMGTPE]i") {
			return shown(value) + " is not a quantity: write one such as 256Mi or 0.5"
		}
		return shown(value) + " does not match the pattern " + found[1]
	}
	return shown(value) + " " + detail
}

// shown returns a value for a message: a text in quotes; for an object or a list, only which of both it is.
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

var typeNames = map[string]string{
	"int32": "integer", "int64": "integer", "float64": "number", "array": "list", "object": "object", "string": "string", "boolean": "boolean",
}

// mistyped says what to write for a value of the wrong type. The value is nil if it is unknown.
func mistyped(must, is string, value any) string {
	must, is = cmp.Or(typeNames[must], must), cmp.Or(typeNames[is], is)
	if is == "null" {
		return "no value: set one, or remove the field"
	}
	text, isText := value.(string)
	found := fmt.Sprint(value)
	switch {
	case isText:
		found = strconv.Quote(text)
	case value == nil || is == "list" || is == "object":
		found = "it"
	}
	return fmt.Sprintf("%s is %s, not %s: %s", found, withArticle(is), withArticle(must), remedy(must, is, found, text))
}

// remedy says what to write where a value must have another type. The text is empty unless the value is a string.
func remedy(must, is, found, text string) string {
	_, notNumber := strconv.ParseFloat(text, 64)
	switch {
	case must == "string" && is == "boolean": // YAML also reads y, n, on and off as booleans.
		return "put it in quotes"
	case must == "string" && (is == "integer" || is == "number"):
		return "write " + strconv.Quote(found) + ", with quotes"
	case (must == "integer" || must == "number") && notNumber == nil, must == "boolean" && (text == "true" || text == "false"):
		return "write " + text + ", without quotes"
	case must == "list" && is == "object":
		return "start each item with a dash"
	case must == "list":
		return "write [" + found + "]"
	case must == "object":
		return "write its fields as NAME: VALUE"
	case must == "boolean":
		return "write true or false"
	case must == "integer":
		return "write a whole number, such as 10"
	}
	return "write a " + must
}

func withArticle(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
