package apidoc

import (
	"io/fs"
	"path"
	"strings"
)

// guide is a text beside the reference, served as it was written.
type guide struct {
	Title string
	// Name is that of its file.
	Name    string
	content []byte
}

// readGuides finds the guides by name. One without a heading is called by its
// file.
func readGuides(files fs.FS) (guides []guide, err error) {
	names, err := fs.Glob(files, "docs/guides/*.md")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(content), "\n")
		title, headed := strings.CutPrefix(first, "# ")
		if !headed {
			title = path.Base(name)
		}
		guides = append(guides, guide{title, path.Base(name), content})
	}
	return guides, nil
}

// findGuide gives the text at /docs/guides/{name}.
func findGuide(guides []guide, address string) (file, bool) {
	for _, one := range guides {
		if address == "/docs/guides/"+one.Name {
			return file{"text/plain; charset=utf-8", one.content}, true
		}
	}
	return file{}, false
}
