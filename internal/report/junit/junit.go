package junit

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"time"
)

// File is a list of suites of tests.
type File struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []Suite  `xml:"testsuite"`
}

// Suite is a list of tests, and how many of them ended in which way.
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

// Properties are what else is to be known of a suite.
type Properties struct {
	List []Property `xml:"property"`
}

// Property is a value by its name.
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

// Cause is why a test has not passed. It says the same twice, since some programs show the message and others the text.
type Cause struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Because is a cause by its type, which may be empty, and its sentence.
func Because(kind, sentence string) *Cause {
	return &Cause{Type: kind, Message: sentence, Text: sentence}
}

// Last says when a suite began and how long it took: no time if one of the two is unknown, as where it was refused before it began, or has not ended.
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

// Note adds a property, unless it has no value.
func (s *Suite) Note(name, value string) {
	if value == "" {
		return
	}
	if s.Properties == nil {
		s.Properties = &Properties{}
	}
	s.Properties.List = append(s.Properties.List, Property{name, value})
}

// Close gives the tests of a suite their class and names of which no two are the same, and counts them.
func (s *Suite) Close(class string) {
	s.Tests, s.Failures, s.Errors, s.Skipped = len(s.Cases), 0, 0, 0
	names := map[string]int{}
	for k := range s.Cases {
		c := &s.Cases[k]
		c.Class = class
		// GitLab reads the first of two tests of one name alone.
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

// Read reads what Print has printed.
func Read(body []byte) ([]Suite, error) {
	var f File
	if err := xml.Unmarshal(body, &f); err != nil {
		return nil, fmt.Errorf("reading tests: %w", err)
	}
	return f.Suites, nil
}
