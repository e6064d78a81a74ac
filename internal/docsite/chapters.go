package docsite

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

const homeSummary = "Collect SEPA direct debits on your own server: guides for shops and operators, and references of both APIs."

// chapter is a section with its texts, by their paths in the repository.
type chapter struct {
	name  string
	texts []string
}

// Chapters before and after the merchants' reference, in reading order.
var (
	firstChapters = []chapter{
		{"Start", guides("getting-started", "testing", "going-live")},
		{"Take payments", guides("hosted-page", "server-to-server", "subscriptions", "refunds")},
		{"Know what happened", guides("webhooks", "events", "retries", "errors", "reconciliation")},
	}
	lastChapters = []chapter{
		{"Rules", []string{"docs/contract.md", "docs/states.md", "docs/reason-codes.md"}},
		{"Operate", []string{
			"docs/operations.md", "docs/guides/dashboard.md", "docs/guides/bank.md", "docs/guides/personal-data.md", "docs/rights.md", "docs/metrics-and-logs.md",
			"docs/security.md", "docs/gateways.md", "docs/performance.md", "docs/scaling.md",
		}},
	}
	closingChapters = []chapter{{"News", []string{"CHANGELOG.md"}}}
)

func guides(names ...string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = "docs/guides/" + name + ".md"
	}
	return paths
}

// pageNames are the names of all texts' pages by the texts' paths.
func pageNames() map[string]string {
	names := map[string]string{}
	for _, chapters := range [][]chapter{firstChapters, lastChapters, closingChapters} {
		for _, c := range chapters {
			for _, text := range c.texts {
				names[text] = strings.ToLower(strings.TrimSuffix(path.Base(text), ".md"))
			}
		}
	}
	return names
}

// sections makes all pages but the first.
func (s Sources) sections() ([]section, error) {
	merchants, err := s.merchantReference()
	if err != nil {
		return nil, err
	}
	operators, err := s.operatorReference()
	if err != nil {
		return nil, err
	}
	var all []section
	for _, part := range []struct {
		chapters []chapter
		then     *section
	}{{firstChapters, merchants}, {lastChapters, operators}, {closingChapters, nil}} {
		for _, c := range part.chapters {
			made, err := s.chapter(c)
			if err != nil {
				return nil, err
			}
			all = append(all, made)
		}
		if part.then != nil {
			all = append(all, *part.then)
		}
	}
	return all, nil
}

func (s Sources) chapter(c chapter) (section, error) {
	names := pageNames()
	made := section{Name: c.name}
	for _, text := range c.texts {
		source, err := fs.ReadFile(s.Files, text)
		if err != nil {
			return made, fmt.Errorf("read a page: %w", err)
		}
		p, err := renderText(text, source, names)
		if err != nil {
			return made, err
		}
		p.Section = c.name
		made.Pages = append(made.Pages, p)
	}
	return made, nil
}
