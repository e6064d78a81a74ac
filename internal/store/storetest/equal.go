package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Equal reports every field in which two records differ, by its path. Records
// of people do not print themselves, so that comparing them as a whole would
// say nothing.
func Equal[T any](t testing.TB, got, want T) {
	t.Helper()
	var differences []string
	differ(reflect.ValueOf(&got).Elem(), reflect.ValueOf(&want).Elem(), reflect.TypeFor[T]().Name(), &differences)
	if len(differences) > 0 {
		t.Errorf("differs in\n\t%s", strings.Join(differences, "\n\t"))
	}
}

func differ(got, want reflect.Value, path string, found *[]string) {
	if reflect.DeepEqual(got.Interface(), want.Interface()) {
		return
	}
	switch {
	case got.Kind() == reflect.Struct && got.Type() != reflect.TypeFor[time.Time]() && allExported(got.Type()):
		for i := range got.NumField() {
			differ(got.Field(i), want.Field(i), path+"."+got.Type().Field(i).Name, found)
		}
	case got.Kind() == reflect.Pointer && !got.IsNil() && !want.IsNil():
		differ(got.Elem(), want.Elem(), path, found)
	default:
		*found = append(*found, fmt.Sprintf("%s: got %#v, want %#v", path, got.Interface(), want.Interface()))
	}
}

func allExported(of reflect.Type) bool {
	for i := range of.NumField() {
		if !of.Field(i).IsExported() {
			return false
		}
	}
	return true
}
