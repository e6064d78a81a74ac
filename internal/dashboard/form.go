package dashboard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/record"
)

// inputKind is how a field of a record is filled in.
type inputKind string

const (
	textInput    inputKind = "text"
	longInput    inputKind = "long"
	addressInput inputKind = "url"
	numberInput  inputKind = "number"
	choiceInput  inputKind = "choice"
	tickInput    inputKind = "tick"
	// maybeInput is yes, no, or nothing said.
	maybeInput inputKind = "maybe"
	colorInput inputKind = "color"
	// logoInput is the address of a picture, which is shown beside it.
	logoInput   inputKind = "logo"
	linesInput  inputKind = "lines"
	manyInput   inputKind = "many"
	secretInput inputKind = "secret"
)

// choice is one of the values that a field takes.
type choice struct{ Value, Label string }

// input is a field of a form. Its name is the field's path in the resource file.
type input struct {
	Name, Label, Help string
	Kind              inputKind
	Required          bool
	Choices           []choice
	// Default stands in the form of a new record, Hint where nothing does.
	Default, Hint string

	// Values are what stands in it: one, or those that are ticked.
	Values  []string
	Problem string
	// Theirs is what somebody else has put there meanwhile, "" where it is the same.
	Theirs string
	// IsElsewhere tells that it holds more than the form can show.
	IsElsewhere bool
}

// Value is what stands in a field that holds one.
func (i input) Value() string {
	if len(i.Values) == 0 {
		return ""
	}
	return i.Values[0]
}

// Has tells whether a value is the one, or ticked.
func (i input) Has(value string) bool { return slices.Contains(i.Values, value) }

// group is a part of a form.
type group struct {
	Title, Help string
	Inputs      []input
}

// form is all that can be said of a record.
type form []group

// each goes through all inputs.
func (f form) each(do func(*input)) {
	for g := range f {
		for i := range f[g].Inputs {
			do(&f[g].Inputs[i])
		}
	}
}

// plain is a record's fields as JSON has them: texts, numbers, lists, objects.
func plain(fields map[string]any) (map[string]any, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return values, decoder.Decode(&values)
}

// show puts a record's fields into the form.
func (f form) show(values map[string]any) {
	f.each(func(i *input) {
		value := record.At(values, i.Name)
		_, i.IsElsewhere = value.(map[string]any)
		i.Values = textsOf(value)
	})
}

// begin puts what is usual into the form of a new record.
func (f form) begin() {
	f.each(func(i *input) {
		if i.Default != "" {
			i.Values = strings.Fields(i.Default)
		}
	})
}

// textsOf is a value as a form has it.
func textsOf(value any) []string {
	switch said := value.(type) {
	case string:
		return []string{said}
	case json.Number:
		return []string{said.String()}
	case bool:
		if said {
			return []string{"true"}
		}
		return []string{"false"}
	case []any:
		var texts []string
		for _, entry := range said {
			texts = append(texts, textsOf(entry)...)
		}
		return texts
	default:
		return nil
	}
}

// keep puts what was sent back into the form.
func (f form) keep(sent url.Values) {
	f.each(func(i *input) {
		switch i.Kind {
		case secretInput: // typed again, or kept as it is
		case linesInput:
			i.Values = lines(sent.Get(i.Name))
		default:
			i.Values = slices.DeleteFunc(slices.Clone(sent[i.Name]), func(text string) bool { return text == "" })
		}
	})
}

func lines(text string) (all []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// blame says at each field what is wrong with it. What no field can be blamed for comes
// back.
func (f form) blame(bad payment.Fields) (rest []string) {
	left := maps.Clone(bad)
	f.each(func(i *input) {
		for name, sentence := range bad {
			at, _, _ := strings.Cut(name, "[") // of a list the one field
			if at == i.Name {
				i.Problem = sentence
				delete(left, name)
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(left)) {
		rest = append(rest, left[name])
	}
	return rest
}

// compare says at each field what stands there by now, where it is not what the form has.
func (f form) compare(values map[string]any) {
	f.each(func(i *input) {
		now := textsOf(record.At(values, i.Name))
		if i.Kind != secretInput && !slices.Equal(now, i.Values) && !(i.Kind == tickInput && i.Has("true") == slices.Equal(now, []string{"true"})) {
			i.Theirs = cmp.Or(strings.Join(now, ", "), "nothing")
		}
	})
}

// read makes a record's fields of what was sent. Objects are taken from the stored ones,
// so that what the form does not show stays.
func (f form) read(sent url.Values, stored map[string]any) merchant.Fields {
	given := merchant.Fields{}
	f.each(func(i *input) {
		if _, isObject := record.At(stored, i.Name).(map[string]any); isObject {
			return // it holds more than the form can show
		}
		if i.Kind == secretInput && sent.Get(i.Name) == "" {
			return // it is kept
		}
		put(given, stored, strings.Split(i.Name, "."), i.read(sent))
	})
	for name, value := range given {
		if object, isObject := value.(map[string]any); isObject {
			given[name] = pruned(object)
		}
	}
	return given
}

// put sets a value at a path, beginning with what is stored there.
func put(given, stored map[string]any, path []string, value any) {
	name := path[0]
	if len(path) == 1 {
		given[name] = value
		return
	}
	storedWithin, _ := stored[name].(map[string]any)
	within, begun := given[name].(map[string]any)
	if !begun {
		if within = maps.Clone(storedWithin); within == nil {
			within = map[string]any{}
		}
		given[name] = within
	}
	put(within, storedWithin, path[1:], value)
}

// pruned is an object without what is nothing, nil where nothing is left.
func pruned(object map[string]any) any {
	for name, value := range object {
		if within, isObject := value.(map[string]any); isObject {
			value = pruned(within)
			object[name] = value
		}
		if value == nil {
			delete(object, name)
		}
	}
	if len(object) == 0 {
		return nil
	}
	return object
}

// read is what was sent for a field: nil for nothing.
func (i input) read(sent url.Values) any {
	text := strings.TrimSpace(sent.Get(i.Name))
	switch i.Kind {
	case tickInput:
		return text == "true"
	case manyInput:
		return listOf(sent[i.Name])
	case linesInput:
		return listOf(lines(text))
	}
	switch {
	case text == "":
		return nil
	case i.Kind == maybeInput:
		return text == "true"
	case i.Kind == numberInput && isWhole(text):
		return json.Number(text)
	case i.Kind == secretInput:
		return sent.Get(i.Name)
	default:
		return strings.ReplaceAll(text, "\r\n", "\n")
	}
}

func isWhole(text string) bool {
	return !strings.ContainsFunc(text, func(letter rune) bool { return letter < '0' || letter > '9' })
}

// listOf is a list of texts, or of whole numbers; none is nil.
func listOf(texts []string) any {
	var list []any
	for _, text := range texts {
		if isWhole(text) {
			list = append(list, json.Number(text))
		} else {
			list = append(list, text)
		}
	}
	if list == nil {
		return nil
	}
	return list
}
