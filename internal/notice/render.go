package notice

import (
	"context"
	_ "embed"
	"html/template"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/store"
)

//go:embed mail.html
var page string

var layout = template.Must(template.New("mail").Parse(page))

// html lays a letter out. Merchants' contents reach it as text, never as markup.
func (l letter) html() (string, error) {
	var out strings.Builder
	err := layout.Execute(&out, l)
	return out.String(), err
}

// text is the letter for whoever reads no HTML.
func (l letter) text() string {
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

// Written is a mail as it is sent.
type Written struct{ Subject, Text, HTML string }

// Read gives a mail with what it says now.
func Read(ctx context.Context, st *store.Store, id uuid.UUID) (m store.Mail, written Written, err error) {
	owner, err := st.MailOwner(ctx, id)
	if err != nil {
		return m, written, err
	}
	if m, err = st.Tenant(owner).Mail(ctx, id); err != nil {
		return m, written, err
	}
	setup, of, err := read(ctx, st, m)
	if err != nil {
		return m, written, err
	}
	l := newLetter(setup, m, of)
	written.Subject, written.Text = l.Subject, l.text()
	written.HTML, err = l.html()
	return m, written, err
}
