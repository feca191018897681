package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

const indent = "  "

// indented is json.MarshalIndent of a struct, and a line end. It encodes one field, and one element of a list, at a
// time, and all twice: first to count. MarshalIndent holds the text of a large run three times.
func indented(of any) ([]byte, error) {
	var p printer
	if err := p.fields(reflect.ValueOf(of)); err != nil {
		return nil, err
	}
	if p.size == 0 {
		return []byte("{}\n"), nil
	}
	const end = "\n}\n"
	p.out = make([]byte, 0, p.size+len(end))
	if err := p.fields(reflect.ValueOf(of)); err != nil {
		return nil, err
	}
	p.out[0] = '{' // In place of the comma before the first field.
	return append(p.out, end...), nil
}

// printer counts bytes, and keeps them in out unless it is nil.
type printer struct {
	out  []byte
	size int
	text bytes.Buffer
}

func (p *printer) fields(of reflect.Value) error {
	for i := range of.NumField() {
		field, value := of.Type().Field(i), of.Field(i)
		var err error
		switch {
		case field.Anonymous:
			err = p.fields(value)
		case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct && value.Len() > 0:
			err = p.list(field, value)
		default:
			err = p.field(field, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// field prints a field as the only one of a struct, without the braces, so that its tag applies.
func (p *printer) field(field reflect.StructField, value reflect.Value) error {
	one := reflect.New(reflect.StructOf([]reflect.StructField{{Name: field.Name, Type: field.Type, Tag: field.Tag}})).Elem()
	one.Field(0).Set(value)
	if err := p.encode(one.Interface(), ""); err != nil {
		return err
	}
	if body := p.text.Bytes(); len(body) > len("{}") {
		p.add(",", body[len("{"):len(body)-len("\n}")])
	}
	return nil
}

func (p *printer) list(field reflect.StructField, elements reflect.Value) error {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	before := ",\n" + indent + `"` + name + `": [` + "\n" + indent + indent
	for i := range elements.Len() {
		if err := p.encode(elements.Index(i).Interface(), indent+indent); err != nil {
			return err
		}
		p.add(before, p.text.Bytes())
		before = ",\n" + indent + indent
	}
	p.add("\n"+indent+"]", nil)
	return nil
}

func (p *printer) encode(v any, prefix string) error {
	compact, err := json.Marshal(v)
	if err != nil {
		return err
	}
	p.text.Reset()
	return json.Indent(&p.text, compact, prefix, indent)
}

func (p *printer) add(before string, text []byte) {
	p.size += len(before) + len(text)
	if p.out != nil {
		p.out = append(append(p.out, before...), text...)
	}
}
