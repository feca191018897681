package record_test

import (
	"reflect"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/record"
)

func TestAnExpectationIsMissedOnlyIfTheFileShowsIt(t *testing.T) {
	for name, tc := range map[string]struct {
		want         record.Expectation
		found        record.Truth
		missed, open bool
	}{
		"required and there":      {record.ExpectRequired, record.Yes, false, false},
		"required and missing":    {record.ExpectRequired, record.No, true, false},
		"required and not shown":  {record.ExpectRequired, record.Unknown, false, true},
		"required and never read": {record.ExpectRequired, "", false, true},
		"forbidden and there":     {record.ExpectForbidden, record.Yes, true, false},
		"forbidden and missing":   {record.ExpectForbidden, record.No, false, false},
		"forbidden and not shown": {record.ExpectForbidden, record.Unknown, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := record.Build{Coverage: record.Fact{Is: tc.found}}.Expected(record.Expectations{Coverage: tc.want})
			if len(got) != 1 || got[0].Field != "coverage" || got[0].Missed() != tc.missed || got[0].Open() != tc.open {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// Each field of a build can be expected under its name in records and API.
func TestEveryFactOfABuildCanBeExpected(t *testing.T) {
	facts := reflect.TypeFor[record.Build]()
	for i := range facts.NumField() {
		var e record.Expectations
		var b record.Build
		name := facts.Field(i).Name
		reflect.ValueOf(&e).Elem().FieldByName(name).SetString(string(record.ExpectRequired))
		reflect.ValueOf(&b).Elem().Field(i).FieldByName("Is").SetString(string(record.No))
		got := b.Expected(e)
		if len(got) != 1 || !got[0].Missed() || got[0].Field != facts.Field(i).Tag.Get("json") || !strings.EqualFold(got[0].Field, name) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if got := (record.Build{}).Expected(record.Expectations{}); got != nil {
		t.Errorf("nothing is expected, and %+v is", got)
	}
}
