package gateway

import (
	"fmt"

	"sepad/internal/merchant"
	"sepad/internal/sepa"
)

// Values are an account's settings as its adapter gets them: checked, complete
// with defaults, and masked however they are printed. Asking for a name that the
// adapter's table does not have is a mistake in the adapter, and panics.
type Values struct {
	sepa.Masked
	table  []Setting
	values map[string]any
}

// Text gives a text, "" when there is none.
func (v Values) Text(name string) string { return value[string](v, name) }

// Number gives a whole number.
func (v Values) Number(name string) int { return value[int](v, name) }

// Flag gives true or false.
func (v Values) Flag(name string) bool { return value[bool](v, name) }

// Object gives the fields of an object, and false when it is not given.
func (v Values) Object(name string) (Values, bool) {
	object := v.given(name)
	fields, isGiven := object.(Values)
	return fields, isGiven
}

func value[T any](v Values, name string) T {
	typed, ok := v.given(name).(T)
	if !ok {
		panic(fmt.Sprintf("gateway: the setting %s is not a %T", name, typed))
	}
	return typed
}

func (v Values) given(name string) any {
	given, declared := v.values[name]
	if !declared {
		panic("gateway: the setting " + name + " is not in the adapter's table")
	}
	return given
}

// secrets lists what must not turn up in a text.
func (v Values) secrets() (secrets []string) {
	for _, setting := range v.table {
		if fields, isObject := v.values[setting.Name].(Values); isObject {
			secrets = append(secrets, fields.secrets()...)
		}
		if text, isText := v.values[setting.Name].(string); isText && setting.Secret {
			secrets = append(secrets, text)
		}
	}
	return secrets
}

// Shown gives what may be shown of an account's settings, completed by defaults,
// and the names of the secrets that are set.
func (k Kind) Shown(stored merchant.Settings) (shown map[string]any, secrets []string) {
	values, _ := readSettings(k.Settings, stored)
	secrets = []string{}
	return values.shown("", &secrets), secrets
}

// Given are an account's settings as they were given: without its secrets, and without
// what holds where nothing is said.
func (k Kind) Given(stored merchant.Settings) map[string]any { return given(k.Settings, stored) }

func given(table []Setting, stored map[string]any) map[string]any {
	told := map[string]any{}
	for _, setting := range table {
		value, isTold := stored[setting.Name]
		if within, isObject := value.(map[string]any); isObject {
			value = given(setting.Fields, within)
		}
		if isTold && !setting.Secret {
			told[setting.Name] = value
		}
	}
	return told
}

func (v Values) shown(prefix string, secrets *[]string) map[string]any {
	shown := map[string]any{}
	for _, setting := range v.table {
		switch given := v.values[setting.Name].(type) {
		case Values:
			shown[setting.Name] = given.shown(prefix+setting.Name+".", secrets)
		default:
			if !setting.Secret {
				shown[setting.Name] = given
			} else if given != "" {
				*secrets = append(*secrets, prefix+setting.Name)
			}
		}
	}
	return shown
}
