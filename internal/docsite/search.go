package docsite

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// passage is a part of a page that a search can lead to.
type passage struct {
	ID, Title, Text string
}

// passages cuts a text at its headings.
func (t *textPage) passages(root ast.Node) []passage {
	all := []passage{{Title: t.page.Title}}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindHeading {
			all = append(all, passage{ID: idOf(n), Title: t.plain(n)})
			continue
		}
		all[len(all)-1].Text += " " + t.plain(n)
	}
	return all
}

// indexEntry is a passage as the script reads it.
type indexEntry struct {
	Address string `json:"u"`
	Page    string `json:"p"`
	Title   string `json:"t"`
	Text    string `json:"x"`
}

// writeIndex is the index as a script, so that a page opened from a folder can load
// it: browsers let no page read files.
func writeIndex(pages []*page) []byte {
	entries := []indexEntry{}
	for _, p := range pages {
		for _, part := range p.found {
			address := p.Address()
			if part.ID != "" {
				address += "#" + part.ID
			}
			entries = append(entries, indexEntry{address, p.Title, part.Title, strings.Join(strings.Fields(part.Text), " ")})
		}
	}
	var out bytes.Buffer
	out.WriteString("globalThis.sepadDocs = ")
	// Texts and addresses cannot fail to be written.
	_ = json.NewEncoder(&out).Encode(entries)
	return out.Bytes()
}
