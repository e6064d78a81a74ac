package docsite

import (
	"html"
	"regexp"
	"strings"
	"sync"
)

// A grammar finds what is coloured: comments, texts, words of the language and
// numbers, as four groups. It need not know more to help the eye.
func grammar(comment, text, words string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)(` + comment + `)|(` + text + `)|(\b(?:` + strings.ReplaceAll(words, " ", "|") + `)\b)|(\b\d[\d_.]*\b)`)
}

const (
	quoted    = `"(?:[^"\\\n]|\\.)*"`
	apostroph = `'(?:[^'\\\n]|\\.)*'`
	never     = `[^\s\S]`
)

var grammars = sync.OnceValue(func() map[string]*regexp.Regexp {
	script := grammar(`//.*$`, quoted+"|`[^`]*`|"+apostroph, "import from export const let function async await return if else for of new null true false class try catch throw")
	return map[string]*regexp.Regexp{
		"ts": script, "js": script,
		"go":     grammar(`//.*$`, quoted+"|`[^`]*`|"+apostroph, "package import func return if else for range var const type struct map string error nil true false defer switch case break continue"),
		"python": grammar(`#.*$`, `"""[\s\S]*?"""|f?`+quoted+"|f?"+apostroph, "import from def return if else elif for in while with as not and or is None True False class try except raise"),
		"php":    grammar(`//.*$`, quoted+"|"+apostroph, "function return string bool array if else foreach as"),
		"sh":     grammar(`(?:^|\s)#.*$`, quoted+`|'[^']*'`, "curl sepad export for do done if then fi while cat echo printf sed grep go make"),
		"yaml":   grammar(`(?:^|\s)#.*$`, quoted+"|"+apostroph, "true false null"),
		"json":   grammar(never, quoted, "true false null"),
	}
})

// classes are the groups of a grammar in the stylesheet.
var classes = []string{"comment", "str", "word", "number"}

// highlight is code as markup. What no grammar knows is shown as it is.
func highlight(language, code string) string {
	rules := grammars()[language]
	if rules == nil {
		return html.EscapeString(code)
	}
	var out strings.Builder
	last := 0
	for _, found := range rules.FindAllStringSubmatchIndex(code, -1) {
		out.WriteString(html.EscapeString(code[last:found[0]]))
		last = found[1]
		for i, class := range classes {
			if found[2*i+2] >= 0 {
				out.WriteString(`<span class="` + class + `">` + html.EscapeString(code[found[0]:found[1]]) + "</span>")
			}
		}
	}
	out.WriteString(html.EscapeString(code[last:]))
	return out.String()
}
