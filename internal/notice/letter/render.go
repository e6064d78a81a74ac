package letter

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed letter.html
var page string

var layout = template.Must(template.New("letter").Parse(page))

// HTML lays a letter out. Merchants' contents reach it as text, never as markup.
func (l Letter) HTML() (string, error) {
	var out strings.Builder
	err := layout.Execute(&out, l)
	return out.String(), err
}

// Text is the letter for whoever reads no HTML.
func (l Letter) Text() string {
	var out strings.Builder
	out.WriteString(l.Title + "\n\n")
	for _, paragraph := range l.Paragraphs {
		out.WriteString(paragraph + "\n\n")
	}
	for _, f := range l.Facts {
		out.WriteString(f.Name + ": " + f.Value + "\n")
	}
	for _, note := range l.Notes {
		out.WriteString("\n" + note + "\n")
	}
	out.WriteString("\n-- \n" + l.Shop + "\n" + l.Why + "\n")
	return out.String()
}
