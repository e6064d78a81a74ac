package docsite

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown reads texts as the repository's readers see them. Markup in them is not
// taken over.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(ownNodes{}, 100))),
	)
})

// textPage is a text on its way to a page.
type textPage struct {
	path   string
	source []byte
	names  map[string]string
	page   *page
}

// renderText makes a page of a text. Links to other texts lead to their pages; what
// is in the repository and not on the site is named without a link.
func renderText(file string, source []byte, names map[string]string) (*page, error) {
	t := textPage{file, source, names, &page{Name: names[file]}}
	context := parser.NewContext(parser.WithIDs(anchors{}))
	root := markdown().Parser().Parse(text.NewReader(source), parser.WithContext(context))
	t.takeTitle(root)
	var unlinked []*ast.Link
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := n.(type) {
		case *ast.Heading:
			t.page.Contents = append(t.page.Contents, heading{ID: idOf(node), Text: t.plain(node), Level: node.Level})
		case *ast.Link:
			if !t.relink(node) {
				unlinked = append(unlinked, node)
			}
		case *ast.Image:
			node.Destination = []byte(path.Base(string(node.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	for _, link := range unlinked {
		unwrap(link)
	}
	t.page.found = t.passages(root)
	var out bytes.Buffer
	if err := markdown().Renderer().Render(&out, source, root); err != nil {
		return nil, fmt.Errorf("render %s: %w", file, err)
	}
	body := strings.ReplaceAll(out.String(), "<table>", `<div class="table" tabindex="0"><table>`)
	t.page.Body = template.HTML(strings.ReplaceAll(body, "</table>", "</table></div>"))
	return t.page, nil
}

// takeTitle takes the heading out of the text, for the layout has it, and the first
// paragraph for the summary.
func (t *textPage) takeTitle(root ast.Node) {
	if first, is := root.FirstChild().(*ast.Heading); is && first.Level == 1 {
		t.page.Title = t.plain(first)
		root.RemoveChild(root, first)
	}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindParagraph {
			t.page.Summary = t.plain(n)
			return
		}
	}
}

// resolve is a path of a link as it is in the repository.
func (t *textPage) resolve(address string) string {
	return path.Join(path.Dir(t.path), address)
}

// relink has a link lead to a page of the site, and tells whether it can.
func (t *textPage) relink(link *ast.Link) bool {
	address, anchor, hasAnchor := strings.Cut(string(link.Destination), "#")
	if address == "" || strings.Contains(address, "://") {
		return true
	}
	target := t.resolve(address)
	switch name, isPage := t.names[target]; {
	case isPage:
		address = name + ".html"
	case target == merchantDocument || target == operatorDocument:
		address = target
	default:
		return false
	}
	if hasAnchor {
		address += "#" + anchor
	}
	link.Destination = []byte(address)
	return true
}

// unwrap leaves the words of a link in its place.
func unwrap(link *ast.Link) {
	parent := link.Parent()
	for child := link.FirstChild(); child != nil; {
		next := child.NextSibling()
		parent.InsertBefore(parent, link, child)
		child = next
	}
	parent.RemoveChild(parent, link)
}

// plain is the text within a node.
func (t *textPage) plain(n ast.Node) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := n.(type) {
		case *ast.Text:
			out.Write(node.Value(t.source))
			if node.SoftLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(node.Value)
		case *ast.FencedCodeBlock:
			out.Write(node.Lines().Value(t.source))
		case *extast.TableCell:
			out.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

func idOf(n ast.Node) string {
	id, _ := n.AttributeString("id")
	raw, _ := id.([]byte)
	return string(raw)
}

// anchors names headings as hosts of repositories do, so that one link works in
// both places.
type anchors map[string]int

// Generate names a heading.
func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	name := slug(string(value))
	a[name]++
	if n := a[name] - 1; n > 0 {
		name += "-" + strconv.Itoa(n)
	}
	return []byte(name)
}

// Put takes a name.
func (a anchors) Put(value []byte) { a[string(value)]++ }

// slug is a text as an anchor: lower case, blanks as hyphens, no punctuation.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, text)
}

// ownNodes renders headings with a link to themselves, code with its language, and
// notes.
type ownNodes struct{}

// RegisterFuncs says which nodes are rendered here.
func (ownNodes) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindHeading, renderHeading)
	register.Register(ast.KindFencedCodeBlock, renderCode)
	register.Register(ast.KindBlockquote, renderNote)
}

func renderHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	node, id := n.(*ast.Heading), html.EscapeString(idOf(n))
	if entering {
		fmt.Fprintf(w, `<h%d id="%s">`, node.Level, id)
	} else {
		fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-label="Link to this section">#</a></h%d>`+"\n", id, node.Level)
	}
	return ast.WalkContinue, nil
}

// tabLanguages are those that stand for each other: blocks of them that follow one
// another are shown as tabs.
var tabLanguages = map[string]string{"sh": "Shell", "go": "Go", "ts": "TypeScript", "js": "JavaScript", "python": "Python", "php": "PHP"}

// captions are what stands above other code.
var captions = map[string]string{"json": "JSON", "yaml": "YAML", "html": "HTML"}

// languageOf gives a block's language, and what its line says besides.
func languageOf(n ast.Node, source []byte) (language, mark string) {
	block, is := n.(*ast.FencedCodeBlock)
	if !is || block.Info == nil {
		return "", ""
	}
	language, mark, _ = strings.Cut(string(block.Info.Value(source)), " ")
	return language, mark
}

func isTab(n ast.Node, source []byte) bool {
	if n == nil {
		return false
	}
	language, _ := languageOf(n, source)
	return tabLanguages[language] != ""
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language, mark := languageOf(n, source)
	if language == "mermaid" {
		return ast.WalkSkipChildren, nil // the table below it says the same
	}
	before, after := isTab(n.PreviousSibling(), source), isTab(n.NextSibling(), source)
	isTab := isTab(n, source)
	if isTab && !before && after {
		w.WriteString(`<div class="tabs">`)
	}
	code := string(n.Lines().Value(source))
	w.WriteString(string(codeBlock(language, caption(language, mark), code)))
	if isTab && before && !after {
		w.WriteString("</div>")
	}
	return ast.WalkSkipChildren, nil
}

func caption(language, mark string) string {
	switch {
	case mark == "shows":
		return "Shows"
	case tabLanguages[language] != "":
		return tabLanguages[language]
	default:
		return captions[language]
	}
}

// codeBlock is code with its caption, for guides and references alike.
func codeBlock(language, caption, code string) template.HTML {
	if caption == "" {
		caption = "Text"
	}
	return template.HTML(`<div class="code"><p class="caption">` + html.EscapeString(caption) + `</p><pre tabindex="0" data-copy><code>` +
		highlight(language, strings.TrimSuffix(code, "\n")) + "</code></pre></div>\n")
}

// notePattern begins a quotation that is a note.
var notePattern = regexp.MustCompile(`^\[!(NOTE|TIP|WARNING)\]`)

func renderNote(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		w.WriteString("</div>\n")
		return ast.WalkContinue, nil
	}
	kind := "note"
	if first := n.FirstChild(); first != nil && first.Kind() == ast.KindParagraph {
		if found := notePattern.FindSubmatch(first.Lines().Value(source)); found != nil {
			kind = strings.ToLower(string(found[1]))
			dropMark(first, len(found[0]))
		}
	}
	label := strings.ToUpper(kind[:1]) + kind[1:]
	fmt.Fprintf(w, `<div class="callout %s" role="note" aria-label="%s"><p class="callout-title">%s</p>`, kind, label, label)
	return ast.WalkContinue, nil
}

// dropMark takes the mark of a note, which may be several nodes, from its text.
func dropMark(paragraph ast.Node, length int) {
	for child := paragraph.FirstChild(); child != nil && length > 0; {
		next := child.NextSibling()
		piece, is := child.(*ast.Text)
		if !is {
			return
		}
		length -= piece.Segment.Len()
		paragraph.RemoveChild(paragraph, child)
		child = next
	}
}
