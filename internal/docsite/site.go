package docsite

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sepad/internal/design"
)

//go:embed assets
var assets embed.FS

var layout = template.Must(template.ParseFS(assets, "assets/layout.html"))

// Names of files that are linked from everywhere.
const (
	homePage         = "index.html"
	merchantDocument = "openapi.yaml"
	operatorDocument = "openapi-admin.yaml"
	searchIndex      = "search-index.js"
)

// Sources are what the site is made of.
type Sources struct {
	// OpenAPI and AdminAPI are the documents of the merchants' and the operators' API.
	OpenAPI, AdminAPI []byte
	// Files has the texts by their paths in the repository.
	Files fs.FS
	// PublicURL is where merchants reach the deployment; it stands in the calls that
	// readers copy.
	PublicURL string
}

// Site is every file of the documentation by its name.
type Site map[string][]byte

// page is one page of the site.
type page struct {
	// Name is that of its file, without the ending.
	Name    string
	Title   string
	Summary string
	Section string
	Body    template.HTML
	// Contents are what stands on it.
	Contents []heading
	// IsReference has a page laid out as text beside code, its contents in the side.
	IsReference bool
	// found are the parts that a search can lead to.
	found []passage
}

// Address is where the other pages find it.
func (p *page) Address() string { return p.Name + ".html" }

// heading is a part of a page.
type heading struct {
	ID, Text string
	Level    int
	// Method is that of a call.
	Method string
}

// section is a group of pages.
type section struct {
	Name  string
	Pages []*page
}

// view is what the layout shows.
type view struct {
	*page
	Sections       []section
	Previous, Next *page
	PublicURL      string
}

// Build makes the site.
func Build(sources Sources) (Site, error) {
	sources.PublicURL = strings.TrimSuffix(sources.PublicURL, "/")
	sections, err := sources.sections()
	if err != nil {
		return nil, err
	}
	site := Site{merchantDocument: sources.OpenAPI, operatorDocument: sources.AdminAPI, "tokens.css": design.Tokens}
	if err := site.copyFiles(assets, "assets", ".css", ".js", ".svg"); err != nil {
		return nil, err
	}
	if err := site.copyFiles(sources.Files, "docs/images", ".png"); err != nil {
		return nil, err
	}
	pages := []*page{{Name: strings.TrimSuffix(homePage, ".html"), Title: "Documentation", Summary: homeSummary}}
	for _, s := range sections {
		pages = append(pages, s.Pages...)
	}
	for i, p := range pages {
		v := view{page: p, Sections: sections, PublicURL: sources.PublicURL}
		if i > 1 {
			v.Previous = pages[i-1]
		}
		if i > 0 && i+1 < len(pages) {
			v.Next = pages[i+1]
		}
		var out bytes.Buffer
		if err := layout.Execute(&out, v); err != nil {
			return nil, fmt.Errorf("render %s: %w", p.Name, err)
		}
		site[p.Address()] = out.Bytes()
	}
	site[searchIndex] = writeIndex(pages)
	return site, nil
}

// copyFiles takes over files of a folder whose names end so.
func (s Site) copyFiles(files fs.FS, from string, endings ...string) error {
	for _, ending := range endings {
		names, err := fs.Glob(files, from+"/*"+ending)
		if err != nil {
			return err
		}
		for _, name := range names {
			content, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			s[path.Base(name)] = content
		}
	}
	return nil
}

// Write puts the files into a folder, which is made where it is not there. Files
// that are there and not of the site are left alone.
func (s Site) Write(into string) error {
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	for name, content := range s {
		if err := os.WriteFile(filepath.Join(into, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
