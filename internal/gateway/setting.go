package gateway

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sepad/internal/merchant"
)

// SettingType is what a setting's value is.
type SettingType string

const (
	SettingText   SettingType = "text"
	SettingNumber SettingType = "number" // a whole one
	SettingFlag   SettingType = "flag"   // true or false
	SettingObject SettingType = "object" // its Fields
)

// Setting describes one setting of an adapter's accounts. The table of them is
// all that the resource file, the admin API and a form need to know in order to
// check a setting, to explain it and to show it or keep it to themselves.
type Setting struct {
	Name string
	Type SettingType
	// Help is a sentence for whoever fills it in.
	Help     string
	Required bool
	// Secret is never shown again, and struck out of whatever the gateway says.
	Secret bool
	// Place names something of the machine or of its network, which belongs to no tenant:
	// only whoever works for all of them may say it.
	Place bool
	// Default is what holds where nothing is given: a string, int or bool.
	Default any
	// Choices are the only texts that are taken; Low and High the bounds of a
	// number, both 0 for none.
	Choices   []string
	Low, High int
	// Check says what is wrong with a text beyond its type.
	Check func(text string) error
	// Fields are those of an object.
	Fields []Setting
}

// SettingError says what is wrong with one setting. An adapter's New returns it
// for what no table can say, such as two settings that exclude each other.
type SettingError struct {
	// Setting is its name, with dots for a field of an object.
	Setting  string
	Sentence string
}

func (e *SettingError) Error() string { return "setting " + e.Setting + ": " + e.Sentence }

// settingReader collects what is wrong with an account's settings.
type settingReader struct {
	wrong   []*SettingError
	unknown []*SettingError
}

// readSettings holds what was given against a table. Names that are not in it
// are told apart: they are a mistake of whoever sets an account up, but no
// reason to refuse payments through one that another version has stored.
func readSettings(table []Setting, given merchant.Settings) (Values, settingReader) {
	var r settingReader
	return r.object(table, given, ""), r
}

func (r *settingReader) object(table []Setting, given map[string]any, prefix string) Values {
	v := Values{table: table, values: make(map[string]any, len(table))}
	known := make([]string, len(table))
	for i, setting := range table {
		known[i] = setting.Name
		v.values[setting.Name] = r.value(setting, given[setting.Name], prefix+setting.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			r.unknown = append(r.unknown, &SettingError{prefix + name, "This setting is not known." + merchant.DidYouMean(name, known)})
		}
	}
	return v
}

// value is a setting's value, its default, or the zero value of its type.
func (r *settingReader) value(s Setting, given any, path string) any {
	if given == nil {
		if s.Required {
			r.refuse(path, "This setting is required.")
		}
		return s.fallback()
	}
	switch s.Type {
	case SettingFlag:
		if flag, ok := given.(bool); ok {
			return flag
		}
		r.refuse(path, "Give true or false.")
	case SettingNumber:
		if number, ok := wholeNumber(given); ok && s.within(number) {
			return number
		}
		r.refuse(path, s.numberSentence())
	case SettingObject:
		if fields, ok := given.(map[string]any); ok {
			return r.object(s.Fields, fields, path+".")
		}
		r.refuse(path, "Give an object with its fields.")
	default:
		return r.text(s, given, path)
	}
	return s.fallback()
}

func (r *settingReader) text(s Setting, given any, path string) string {
	text, isText := given.(string)
	switch {
	case !isText:
		r.refuse(path, "Give a text; put it in quotes if it looks like a number.")
	case s.Required && strings.TrimSpace(text) == "":
		r.refuse(path, "This setting must not be blank.")
	case len(s.Choices) > 0 && !slices.Contains(s.Choices, text):
		r.refuse(path, "This must be one of "+strings.Join(s.Choices, ", ")+"."+merchant.DidYouMean(text, s.Choices))
	case s.Check != nil && text != "":
		if err := s.Check(text); err != nil {
			r.refuse(path, err.Error())
		}
	}
	return text
}

func (r *settingReader) refuse(path, sentence string) {
	r.wrong = append(r.wrong, &SettingError{path, sentence})
}

func (s Setting) fallback() any {
	if s.Default != nil {
		return s.Default
	}
	switch s.Type {
	case SettingFlag:
		return false
	case SettingNumber:
		return 0
	case SettingObject:
		return nil
	default:
		return ""
	}
}

func (s Setting) within(number int) bool {
	return s.Low == 0 && s.High == 0 || s.Low <= number && number <= s.High
}

func (s Setting) numberSentence() string {
	if s.Low == 0 && s.High == 0 {
		return "Give a whole number."
	}
	return fmt.Sprintf("Give a whole number from %d to %d.", s.Low, s.High)
}

// wholeNumber reads a number in the forms that files and stored records have.
func wholeNumber(given any) (int, bool) {
	switch n := given.(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	case float64:
		return int(n), n == math.Trunc(n) && math.Abs(n) < math.MaxInt32
	}
	return 0, false
}

// Check says everything that is wrong with an account's settings: what the table
// says first, then what only the adapter knows.
func (k Kind) Check(account Account) []*SettingError {
	values, read := readSettings(k.Settings, account.Settings)
	if mistakes := slices.Concat(read.unknown, read.wrong); len(mistakes) > 0 {
		return mistakes
	}
	_, err := k.New(account, values)
	return asSettingErrors(err)
}

// asSettingErrors names the setting that an adapter refuses, or all of them.
func asSettingErrors(err error) []*SettingError {
	if err == nil {
		return nil
	}
	if named, ok := errors.AsType[*SettingError](err); ok {
		return []*SettingError{named}
	}
	return []*SettingError{{Sentence: "The adapter cannot work with them: " + err.Error()}}
}
