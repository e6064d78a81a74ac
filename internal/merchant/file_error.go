package merchant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one thing that is wrong in a resource file.
type Mistake struct {
	Line     int    // 0 when no line can be named
	Path     string // "tenants[0].offers[1].price", "" for the file as a whole
	Sentence string
}

// FileError holds every mistake of a resource file, in the order of its lines.
type FileError struct {
	File     string
	Mistakes []Mistake
}

// Error has one line per mistake, in the form that editors jump to.
func (e *FileError) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		lines[i] = m.At(e.File)
	}
	return strings.Join(lines, "\n")
}

// At is the mistake with its place in a file.
func (m Mistake) At(file string) string {
	var b strings.Builder
	b.WriteString(file)
	if m.Line > 0 {
		fmt.Fprintf(&b, ":%d", m.Line)
	}
	if m.Path != "" {
		b.WriteString(": " + m.Path)
	}
	return b.String() + ": " + m.Sentence
}

// sorted puts mistakes in the order in which a reader meets their lines.
func sorted(mistakes []Mistake) []Mistake {
	slices.SortStableFunc(mistakes, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return mistakes
}
