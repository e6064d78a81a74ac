package config

import (
	"errors"
	"fmt"
	"strings"
)

// Errors are the settings that are wrong or missing, a sentence each.
type Errors []string

func (e Errors) Error() string { return strings.Join(e, "\n") }

// reader reads texts into types and notes every one that is wrong.
type reader struct {
	fields   map[*string]Setting
	problems []string
}

func newReader(settings any, problems []string) *reader {
	r := &reader{fields: map[*string]Setting{}, problems: problems}
	for _, field := range fieldsOf(settings) {
		r.fields[field.text] = field.Setting
	}
	return r
}

// err is nil when nothing was wrong.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return Errors(r.problems)
}

// wrong notes that a setting cannot be used.
func (r *reader) wrong(field *string, format string, args ...any) {
	r.note(fmt.Errorf("%s: %s", r.fields[field].Name, fmt.Sprintf(format, args...)))
}

// missing notes that a setting is not given.
func (r *reader) missing(field *string, sentence string) {
	r.note(errors.New(r.fields[field].Name + " is not set: " + sentence))
}

// note takes an error that names its setting.
func (r *reader) note(err error) {
	if err != nil {
		r.problems = append(r.problems, err.Error())
	}
}

// text is what was given, or what holds otherwise.
func (r *reader) text(field *string) string {
	if *field != "" {
		return *field
	}
	return r.fields[field].Default
}

// checked is a text that a function finds nothing wrong with, which may be "".
func (r *reader) checked(field *string, check func(text string) error) string {
	text := r.text(field)
	if text == "" {
		return ""
	}
	if err := check(text); err != nil {
		r.wrong(field, "%s", err)
	}
	return text
}

// parsed is what a function makes of a text.
func parsed[T any](r *reader, field *string, parse func(text string) (T, error)) T {
	value, err := parse(r.text(field))
	if err != nil {
		r.wrong(field, "%s", err)
	}
	return value
}
