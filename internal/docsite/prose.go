package docsite

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

// The document's texts use a little CommonMark: headings, paragraphs, lists,
// **bold** and `code`. Nothing else is read, and every character that comes
// from the document is escaped before a tag of ours is set around it.

var (
	codePattern = regexp.MustCompile("`([^`]+)`")
	boldPattern = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	// numberPattern begins a numbered list, itemPattern an item of any list.
	numberPattern = regexp.MustCompile(`^\d+\. `)
	itemPattern   = regexp.MustCompile(`^(- |\d+\. )`)
)

// inline sets the marks within a line.
func inline(text string) template.HTML {
	var out strings.Builder
	last := 0
	// Code is cut out first: stars inside it are no marks.
	for _, span := range codePattern.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(bold(text[last:span[0]]))
		out.WriteString("<code>" + html.EscapeString(text[span[2]:span[3]]) + "</code>")
		last = span[1]
	}
	out.WriteString(bold(text[last:]))
	return template.HTML(out.String())
}

func bold(text string) string {
	return boldPattern.ReplaceAllString(html.EscapeString(text), "<strong>$1</strong>")
}

// prose sets a text of several paragraphs.
func prose(text string) template.HTML {
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		heading, isHeading := strings.CutPrefix(block, "## ")
		switch {
		case strings.TrimSpace(block) == "":
		case isHeading:
			out.WriteString("<h3>" + string(inline(heading)) + "</h3>")
		case strings.HasPrefix(block, "- "):
			out.WriteString(list("ul", block))
		case numberPattern.MatchString(block):
			out.WriteString(list("ol", block))
		default:
			out.WriteString("<p>" + string(inline(block)) + "</p>")
		}
	}
	return template.HTML(out.String())
}

// list sets a block whose items begin with a dash or a number; other lines go
// on with the item above them.
func list(tag, block string) string {
	var items []string
	for line := range strings.SplitSeq(block, "\n") {
		if mark := itemPattern.FindString(line); mark != "" {
			items = append(items, line[len(mark):])
			continue
		}
		items[len(items)-1] += " " + strings.TrimSpace(line)
	}
	var out strings.Builder
	out.WriteString("<" + tag + ">")
	for _, item := range items {
		out.WriteString("<li>" + string(inline(item)) + "</li>")
	}
	out.WriteString("</" + tag + ">")
	return out.String()
}
