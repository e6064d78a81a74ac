package page

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"sync"

	"sepad/internal/merchant"
	"sepad/internal/web"
)

//go:embed *.html
var templateFiles embed.FS

// templates are read with the first page: they take longer than all else that a program begins with, and few commands show one.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"asset": assetPath,
		"fill":  fill,
		"group": group,
		"css":   func(text string) template.CSS { return template.CSS(text) }, // our own stylesheet, nobody's words
	}).ParseFS(templateFiles, "*.html"))
})

// view is what the template shows.
type view struct {
	*pageLanguage
	Languages []*pageLanguage
	Title     string
	Stage     stage
	// Merchant and below are empty on pages of no session.
	Merchant string
	Logo     *logoView
	BackURL  string
	Style    string
	Links    []way
	FootText string
	// Trust is said below the button, in a few words each.
	Trust []string
	// TestMode tells that no money moves.
	TestMode bool
	// Preview tells that nothing on the page may be sent; LanguageQuery stands
	// before the language in the links of its switch.
	Preview       bool
	LanguageQuery template.URL

	Order  *orderView
	Form   *formView
	Result *resultView
	// Reload is after how many seconds a browser without our script looks again.
	Reload int
}

// way is a link with its words.
type way struct{ Name, Address string }

// Texts gives templates the words by a name that no field hides.
func (v view) Texts() *texts { return v.texts }

// plainPages are the pages of no session, by language and title. Each is made once: whoever
// is turned away, which anybody can have done to him as often as he likes, costs next to nothing.
var plainPages sync.Map

// writePlain answers with a page of no session.
func writePlain(w http.ResponseWriter, r *http.Request, status int, shown view) error {
	key := [2]string{shown.Code, shown.Title}
	made, known := plainPages.Load(key)
	if !known {
		html, err := render("page.html", shown)
		if err != nil {
			return err
		}
		made, _ = plainPages.LoadOrStore(key, web.NewAsset("text/html; charset=utf-8", html))
	}
	w.Header().Set("X-Frame-Options", "DENY")
	made.(web.Asset).WriteAsPage(w, r, status, contentPolicy, referrer)
	return nil
}

// plainView is a page of no session.
func plainView(l *pageLanguage, title, text string, t tone, retry bool) view {
	return view{
		pageLanguage: l, Languages: languages, Title: title, Style: stylePath(merchant.DefaultPrimaryColor, merchant.DefaultAccentColor),
		Result: &resultView{Tone: t, Title: title, Text: text, Retry: retry},
	}
}

// frame is what stands around every stage.
func (p *Page) frame(r *http.Request, v visit, title string) view {
	f := view{
		pageLanguage: v.pageLanguage, Languages: languages, Title: title, Merchant: v.Tenant.Name, Order: v.order(),
		Links: v.links(), FootText: v.content("footer_text"), TestMode: p.movesNothing(v),
		Style: stylePath(merchant.DefaultPrimaryColor, merchant.DefaultAccentColor),
	}
	if v.Page != nil {
		f.Style = stylePath(v.Page.Branding.PrimaryColor, v.Page.Branding.AccentColor)
		f.BackURL = webAddress(v.Page.Links.Shop)
		f.Logo = p.logoOf(r, v)
	}
	return f
}

// contentPolicy lets the page use what this process serves and nothing else: no
// inline script or style, no other host, no frame.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// referrer keeps addresses of the page, which hold tokens, from other sites.
const referrer = "no-referrer"

func write(w http.ResponseWriter, r *http.Request, status int, name string, data any) error {
	w.Header().Set("X-Frame-Options", "DENY")
	return writeWith(w, r, status, name, data, contentPolicy)
}

// writeWith renders before the status is sent, so that no half page is.
func writeWith(w http.ResponseWriter, r *http.Request, status int, name string, data any, policy string) error {
	html, err := render(name, data)
	if err != nil {
		return err
	}
	web.WritePage(w, r, status, html, policy, referrer)
	return nil
}

func render(name string, data any) ([]byte, error) {
	var html bytes.Buffer
	err := templates().ExecuteTemplate(&html, name, data)
	return html.Bytes(), err
}
