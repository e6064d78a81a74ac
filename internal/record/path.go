package record

import "strings"

// At finds a value of an object by its path, names with dots between; nil for none.
func At(object map[string]any, path string) any {
	name, rest, isInside := strings.Cut(path, ".")
	if !isInside {
		return object[name]
	}
	inner, _ := object[name].(map[string]any)
	return At(inner, rest)
}
