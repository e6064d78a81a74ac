package dashboard

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/web"
)

//go:embed screens
var screenFiles embed.FS

// policy is what a page may load: our own style and script, and pictures.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// functions are what templates may call.
var functions = template.FuncMap{
	"asset":   assetPath,
	"instant": func(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05") + " UTC" },
	"iso":     func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
	"pretty":  func(text any) string { return pretty(fmt.Sprintf("%s", text)) },
	"dict":    dict,
	"last4":   func(masked string) string { return account(masked).Text },
	"day":     func(at time.Time) string { return at.UTC().Format(time.DateOnly) },
}

// pretty writes JSON for people.
func pretty(text string) string {
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(text), "", "  "); err != nil {
		return string(text)
	}
	return indented.String()
}

// dict hands several values to a part of a template.
func dict(pairs ...any) map[string]any {
	all := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i].(string)] = pairs[i+1]
	}
	return all
}

// templates are the screens by name, each within the layout.
var templates = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(screenFiles, "screens/layout.html", "screens/form.html", "screens/parts.html"))
	files, err := screenFiles.ReadDir("screens")
	if err != nil {
		panic(err) // they are embedded
	}
	all := map[string]*template.Template{}
	for _, file := range files {
		if name := strings.TrimSuffix(file.Name(), ".html"); name != "layout" && name != "form" && name != "parts" {
			all[name] = template.Must(template.Must(layout.Clone()).ParseFS(screenFiles, path.Join("screens", file.Name())))
		}
	}
	return all
})

// view is what a template gets.
type view struct {
	Title string
	// Who is asking; nil at the doors.
	Who  *people.Principal
	Path string
	// Places are the navigation of whoever asks.
	Places []place
	// Sandbox tells that no money moves here.
	Sandbox bool
	// Notice is what was just done, in a sentence.
	Notice string
	Data   any
}

// place is a link of the navigation.
type place struct {
	Label, Path string
	// Key goes there after a g, "" for none.
	Key    string
	IsHere bool
}

// placeKeys are the letters of places.
var placeKeys = map[string]string{
	"Overview": "o", "Sessions": "s", "Transactions": "t", "Subscriptions": "u", "Chargebacks": "c", "Leads": "l", "Mandates": "m",
	"Events": "e", "Imports": "i", "Bank files": "b", "Audit": "a",
}

func (d *Dashboard) view(r *http.Request, title string, data any) view {
	v := view{Title: title, Path: r.URL.Path, Sandbox: d.Environment == merchant.Sandbox, Data: data}
	if who, ok := people.Who(r.Context()); ok {
		v.Who, v.Places = &who, d.places(who, r.URL.Path)
	}
	return v
}

// places are the screens that somebody may see.
func (d *Dashboard) places(who people.Principal, here string) (places []place) {
	for _, s := range d.screens() {
		if s.Pattern == sandboxPath && d.Movable == nil {
			continue
		}
		if s.Label != "" && people.RightTo(s.Method, s.Pattern).Admits(who) {
			isHere := here == s.Pattern || s.Pattern != "/dashboard/" && strings.HasPrefix(here, s.Pattern) ||
				s.Pattern == bankFilesPath && (strings.HasPrefix(here, bankStatementsPath) || strings.HasPrefix(here, bankLinesPath))
			places = append(places, place{s.Label, s.Pattern, placeKeys[s.Label], isHere})
		}
	}
	return places
}

// page answers with a screen.
func (d *Dashboard) page(w http.ResponseWriter, r *http.Request, name, title string, data any) error {
	v := d.view(r, title, data)
	v.Notice = d.said(w, r)
	return d.render(w, r, http.StatusOK, name, v)
}

// render writes a page, which is whole before its first byte is sent.
func (d *Dashboard) render(w http.ResponseWriter, r *http.Request, status int, name string, v view) error {
	var html bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&html, "layout.html", v); err != nil {
		return err
	}
	web.WritePage(w, r, status, html.Bytes(), policy, "same-origin")
	return nil
}

// redirect leads on after a form, with a sentence of what was done.
func (d *Dashboard) redirect(w http.ResponseWriter, _ *http.Request, target, done string) error {
	d.say(w, done)
	seeOther(w, target)
	return nil
}

// fault is what went wrong, for a person.
type fault struct {
	Status    int
	Sentences []string
}

// fail answers with an error as a page.
func (d *Dashboard) fail(w http.ResponseWriter, r *http.Request, err error) error {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return err // nobody is there who would read a page
	}
	status, detail := web.Describe(w, r, err)
	shown := fault{Status: status, Sentences: sentences(detail)}
	return d.render(w, r, status, "error", d.view(r, http.StatusText(status), shown))
}

// sentences are what a refusal says, field by field.
func sentences(detail any) []string {
	switch said := detail.(type) {
	case payment.Fields:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(said)) {
			all = append(all, said[name])
		}
		return all
	case string:
		return []string{said}
	default:
		return nil
	}
}

// maxForm bounds what a form may hold.
const maxForm = 64 << 10

// readForm reads a form that was sent.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil || !isText(r.PostForm) {
		return nil, web.BodyFault(err, &payment.Error{Kind: payment.Invalid, Detail: "The form cannot be read."})
	}
	return r.PostForm, nil
}

// isText tells that everything in a form or an address can be stored and looked for.
func isText(values url.Values) bool {
	for _, texts := range values {
		if slices.ContainsFunc(texts, func(text string) bool { return !isPlain(text) }) {
			return false
		}
	}
	return true
}

func isPlain(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }
