package docsite

import (
	"strings"
	"testing"
)

func mustParse(t *testing.T, text string) document {
	t.Helper()
	root, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return document{root}
}

func TestProseKnowsItsMarks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"paragraphs", "one\n\ntwo", "<p>one</p><p>two</p>"},
		{"a heading", "## Head", "<h3>Head</h3>"},
		{"a list whose item goes on", "- one\n  more\n- two", "<ul><li>one more</li><li>two</li></ul>"},
		{"a numbered list", "1. one\n2. two", "<ol><li>one</li><li>two</li></ol>"},
		{"bold and code", "**b** `c`", "<p><strong>b</strong> <code>c</code></p>"},
		{"stars within code are text", "`**c**`", "<p><code>**c**</code></p>"},
		{"tags are text", "<b> & `<i>`", "<p>&lt;b&gt; &amp; <code>&lt;i&gt;</code></p>"},
		{"nothing", "  \n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := string(prose(test.text)); got != test.want {
				t.Errorf("prose(%q) = %s, want %s", test.text, got, test.want)
			}
		})
	}
}

func TestRowsOfSchemas(t *testing.T) {
	t.Parallel()
	d := mustParse(t, `
components:
  schemas:
    Tree:
      type: object
      required: [name]
      properties:
        name: {type: string, minLength: 1, maxLength: 5}
        child: {oneOf: [{$ref: '#/components/schemas/Tree'}, {type: "null"}], description: Inner}
        loop: {$ref: '#/components/schemas/Loop'}
        size: {type: [integer, "null"], minimum: 1, maximum: 10}
        kind: {type: [string, "null"], enum: [a, b, null]}
        extra: {type: object, additionalProperties: {type: string}}
    Loop: {$ref: '#/components/schemas/Loop'}
`)
	rows := reader{document: d}.rows(d.shape(d.root.at("components", "schemas", "Tree")), 0)
	byName := map[string]row{}
	for _, line := range rows {
		byName[line.Name] = line
	}

	t.Run("a schema that contains itself ends", func(t *testing.T) {
		t.Parallel()
		if child := byName["child"]; len(rows) > 20 || child.Schema != "Tree" || !child.Nullable || child.Description != "<p>Inner</p>" {
			t.Errorf("%d rows, child %+v", len(rows), child)
		}
	})
	t.Run("a reference to itself is an unknown type", func(t *testing.T) {
		t.Parallel()
		if byName["loop"].Type != "any" {
			t.Errorf("type %q", byName["loop"].Type)
		}
	})
	t.Run("limits are said in words", func(t *testing.T) {
		t.Parallel()
		if got := rules(d.root.at("components", "schemas", "Tree", "properties", "name")); len(got) != 2 || got[0] != "not empty" || got[1] != "at most 5 characters" {
			t.Errorf("rules %q", got)
		}
		if got := byName["size"].Rules; len(got) != 1 || got[0] != "1 to 10" {
			t.Errorf("rules %q", got)
		}
	})
	t.Run("null is no choice but makes a field nullable", func(t *testing.T) {
		t.Parallel()
		if kind := byName["kind"]; len(kind.Values) != 2 || !kind.Nullable {
			t.Errorf("kind %+v", kind)
		}
	})
	t.Run("a map names what it holds", func(t *testing.T) {
		t.Parallel()
		if byName["extra"].Type != "object of strings" {
			t.Errorf("type %q", byName["extra"].Type)
		}
	})
}

func TestExamplesAreJSONInTheAuthorsOrder(t *testing.T) {
	t.Parallel()
	d := mustParse(t, `{z: 1, a: [x, true, null, 1.50], m: {}, s: "a\"<b>", empty: []}`)
	want := `{
  "z": 1,
  "a": [
    "x",
    true,
    null,
    1.50
  ],
  "m": {},
  "s": "a\"<b>",
  "empty": []
}`
	if got := writeJSON(d.root, 0, noMarks); got != want {
		t.Errorf("got %s", got)
	}
	if coloured := writeJSON(d.root, 0, htmlMarks); strings.Contains(coloured, "<b>") {
		t.Errorf("markup of an example is not escaped: %s", coloured)
	}
}

func TestCallsQuoteForTheShell(t *testing.T) {
	t.Parallel()
	sent := mustParse(t, `{name: "O'Hara", amount: "5.00", tags: [a]}`).root
	op := operation{Method: "PUT", Path: "/admin/v1/a/{one}/b/{two}/", Request: &body{}}
	for _, test := range []struct{ name, got, want string }{
		{"curl", curl("https://pay.example", "KEY", op, sent), `curl -X PUT "https://pay.example/admin/v1/a/$ONE/b/$TWO/" \
  -H 'Content-Type: application/json' \
  -d '{
  "name": "O'\''Hara",
  "amount": "5.00",
  "tags": [
    "a"
  ]
}'`},
		{"sepad", adminCommand(op, sent), `sepad admin PUT "a/$ONE/b/$TWO/" 'name=O'\''Hara' 'amount="5.00"' 'tags=["a"]'`},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %s", test.name, test.got)
		}
	}
}

func TestTextsBecomePages(t *testing.T) {
	t.Parallel()
	names := map[string]string{"docs/guides/a.md": "a", "docs/b.md": "b"}
	for _, test := range []struct{ name, text, want string }{
		{"a link to another text", "[b](../b.md#part)", `<a href="b.html#part">b</a>`},
		{"a link to what is not on the site", "see [code](../../cmd) here", "see code here"},
		{"a link elsewhere", "[x](https://x.example)", `<a href="https://x.example">x</a>`},
		{"a heading can be linked", "## payment_session.completed", `<h2 id="payment_sessioncompleted">`},
		{"markup is not taken over", "<script>x</script>", "<!-- raw HTML omitted -->"},
		{"code of one language", "```go\nx := 1\n```", `<div class="code"><p class="caption">Go</p>`},
		{"code of several languages", "```go run\nx\n```\n\n```python\ny\n```", `<div class="tabs"><div`},
		{"what is shown is no language", "```sh run\nx\n```\n\n```json shows\n{}\n```", "</div>\n<div"},
		{"a note", "> [!WARNING]\n> Mind.", `<div class="callout warning" role="note" aria-label="Warning"><p class="callout-title">Warning</p><p>Mind.</p>`},
	} {
		p, err := renderText("docs/guides/a.md", []byte("# T\n\n"+test.text+"\n"), names)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(p.Body), test.want) || p.Title != "T" {
			t.Errorf("%s: %s", test.name, p.Body)
		}
	}
}

func TestCodeIsColoured(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ language, code, want string }{
		{"go", `if x == "<a>" { // y`, `<span class="word">if</span> x == <span class="str">&#34;&lt;a&gt;&#34;</span> { <span class="comment">// y</span>`},
		{"python", "return 1  # one", `<span class="word">return</span> <span class="number">1</span>  <span class="comment"># one</span>`},
		{"sh", `curl "$A#b"`, `<span class="word">curl</span> <span class="str">&#34;$A#b&#34;</span>`},
		{"unknown", "<b>", "&lt;b&gt;"},
	} {
		if got := highlight(test.language, test.code); got != test.want {
			t.Errorf("%s: %s", test.language, got)
		}
	}
}
