package junit

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"time"
)

// File is a list of test suites.
type File struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []Suite  `xml:"testsuite"`
}

// Suite is a list of tests with counts of their outcomes.
type Suite struct {
	Name       string      `xml:"name,attr"`
	Tests      int         `xml:"tests,attr"`
	Failures   int         `xml:"failures,attr"`
	Errors     int         `xml:"errors,attr"`
	Skipped    int         `xml:"skipped,attr"`
	Seconds    string      `xml:"time,attr"`
	Timestamp  string      `xml:"timestamp,attr,omitempty"`
	Properties *Properties `xml:"properties"`
	Cases      []Case      `xml:"testcase"`
	Said       string      `xml:"system-out"`
}

// Properties are further facts of a suite.
type Properties struct {
	List []Property `xml:"property"`
}

// Property is a named value.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is a test. It passes unless it has a failure or an error, or was skipped.
type Case struct {
	Class   string `xml:"classname,attr"`
	Name    string `xml:"name,attr"`
	Failure *Cause `xml:"failure"`
	Error   *Cause `xml:"error"`
	Skipped *Cause `xml:"skipped"`
	Said    string `xml:"system-out,omitempty"`
}

// Cause is why a test has not passed. Message and text are equal, since programs show one or the other.
type Cause struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Because returns a cause with a type, which may be empty.
func Because(kind, sentence string) *Cause {
	return &Cause{Type: kind, Message: sentence, Text: sentence}
}

// Last sets a suite's begin and duration: no duration if either time is unknown.
func (s *Suite) Last(from, to time.Time) {
	took := time.Duration(0)
	if !from.IsZero() && !to.IsZero() {
		took = to.Sub(from)
	}
	s.Seconds = strconv.FormatFloat(took.Seconds(), 'f', 3, 64)
	if !from.IsZero() {
		s.Timestamp = from.UTC().Format("2006-01-02T15:04:05")
	}
}

// Note adds a property, unless its value is empty.
func (s *Suite) Note(name, value string) {
	if value == "" {
		return
	}
	if s.Properties == nil {
		s.Properties = &Properties{}
	}
	s.Properties.List = append(s.Properties.List, Property{name, value})
}

// Close sets class and unique names of a suite's tests, and counts them.
func (s *Suite) Close(class string) {
	s.Tests, s.Failures, s.Errors, s.Skipped = len(s.Cases), 0, 0, 0
	names := map[string]int{}
	for k := range s.Cases {
		c := &s.Cases[k]
		c.Class = class
		// Of two tests with the same name, GitLab reads only the first.
		if names[c.Name]++; names[c.Name] > 1 {
			c.Name += " #" + strconv.Itoa(names[c.Name])
		}
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

// Print prints suites.
func Print(suites ...Suite) ([]byte, error) {
	out, err := xml.MarshalIndent(File{Suites: suites}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("printing tests: %w", err)
	}
	return []byte(xml.Header + string(out) + "\n"), nil
}

// Read parses what Print printed.
func Read(body []byte) ([]Suite, error) {
	var f File
	if err := xml.Unmarshal(body, &f); err != nil {
		return nil, fmt.Errorf("reading tests: %w", err)
	}
	return f.Suites, nil
}
