// Package bankpage is the simulated bank in the browser: where a payer whose
// test account asks for it confirms or rejects a mandate.
//
// GET {BankPath}{reference}/ shows what is asked, POST to the same address
// decides and sends the payer back to the shop. The page works without scripts
// and loads its style from {BankPath}assets/. A POST must come from the page
// itself. What has been decided, was closed or never existed is said in words.
package bankpage

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"

	"sepad/internal/clock"
	"sepad/internal/design"
	"sepad/internal/gateway/sandbox"
)

//go:embed page.html assets
var files embed.FS

var pageTemplate = template.Must(template.ParseFS(files, "page.html"))

const (
	maxFormBytes    = 4 << 10
	maxReferenceLen = 64
)

type page struct {
	ledger sandbox.Ledger
	clock  clock.Clock
	log    *slog.Logger
}

// New serves everything under sandbox.BankPath. Decisions are dated by the
// service's clock.
func New(ledger sandbox.Ledger, serviceClock clock.Clock, log *slog.Logger) http.Handler {
	p := &page{ledger: ledger, clock: serviceClock, log: log}
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.write(w, r, http.StatusForbidden, foreignView())
	}))
	mux := http.NewServeMux()
	mux.Handle("GET "+sandbox.BankPath+"assets/{file}", assets())
	mux.HandleFunc("GET "+sandbox.BankPath+"{reference}/{$}", p.show)
	mux.Handle("POST "+sandbox.BankPath+"{reference}/{$}", sameOrigin.Handler(http.HandlerFunc(p.decide)))
	mux.HandleFunc("GET /", p.notFound)
	return mux
}

func (p *page) show(w http.ResponseWriter, r *http.Request) {
	if entry, found := p.find(w, r); found {
		p.write(w, r, http.StatusOK, entryView(entry))
	}
}

// decide takes the payer's choice. Clicking twice is no mistake; a choice that
// comes after another one is told so.
func (p *page) decide(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	choice := r.PostFormValue("decision")
	if choice != "approve" && choice != "reject" {
		p.write(w, r, http.StatusBadRequest, unclearView())
		return
	}
	entry, found := p.find(w, r)
	if !found {
		return
	}
	entry, err := sandbox.PayerDecides(r.Context(), p.ledger, entry, choice == "approve", p.clock.Now())
	switch {
	case err != nil:
		p.fail(w, r, err)
	case entry.State != chosenState(choice):
		p.write(w, r, http.StatusConflict, entryView(entry))
	default:
		redirect(w, entry)
	}
}

// redirect leads back to the shop, or to the page that shows the decision.
func redirect(w http.ResponseWriter, e sandbox.Entry) {
	target := returnURL(e)
	if target == "" {
		target = sandbox.BankPath + e.VerificationReference + "/"
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusSeeOther)
}

func chosenState(choice string) sandbox.State {
	if choice == "approve" {
		return sandbox.StateApproved
	}
	return sandbox.StateDeclined
}

// find gives the payment of the address, or answers that there is none.
func (p *page) find(w http.ResponseWriter, r *http.Request) (sandbox.Entry, bool) {
	reference := r.PathValue("reference")
	if !possibleReference(reference) {
		p.notFound(w, r)
		return sandbox.Entry{}, false
	}
	entry, found, err := p.ledger.FindByVerification(r.Context(), reference)
	switch {
	case err != nil:
		p.fail(w, r, err)
		return sandbox.Entry{}, false
	case !found:
		p.notFound(w, r)
	}
	return entry, found
}

// possibleReference keeps out what no database should be asked for.
func possibleReference(reference string) bool {
	return len(reference) <= maxReferenceLen && !strings.ContainsFunc(reference, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}

func (p *page) notFound(w http.ResponseWriter, r *http.Request) {
	p.write(w, r, http.StatusNotFound, unknownView())
}

func (p *page) fail(w http.ResponseWriter, r *http.Request, err error) {
	p.log.ErrorContext(r.Context(), "simulated bank page", "error", err)
	p.write(w, r, http.StatusInternalServerError, failedView())
}

// write renders before the status is sent, so that no half page is.
func (p *page) write(w http.ResponseWriter, r *http.Request, status int, v view) {
	var html bytes.Buffer
	if err := pageTemplate.Execute(&html, v); err != nil {
		p.log.ErrorContext(r.Context(), "simulated bank page", "error", err)
		http.Error(w, "This page cannot be shown.", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", contentPolicy(v))
	header.Set("Cache-Control", "no-store")
	// The origin must be sent with the form, and the address to nobody else.
	header.Set("Referrer-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex")
	w.WriteHeader(status)
	_, _ = w.Write(html.Bytes())
}

// contentPolicy allows the page's own style and form and nothing else. Browsers
// hold redirects after a form to form-action as well, and where the way back
// leads in the end only the shop knows, so that with a way back any web address
// is allowed there.
func contentPolicy(v view) string {
	policy := "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
	if !v.Undecided || v.ReturnURL == "" {
		return policy
	}
	if strings.HasPrefix(v.ReturnURL, "http:") {
		policy += " http:"
	}
	return policy + " https:"
}

// assets serves the styles and the icon, which carry no version in their names
// and are therefore kept for minutes only.
func assets() http.Handler {
	folder, err := fs.Sub(files, "assets")
	if err != nil {
		panic(err) // the name is a constant that is a valid one
	}
	// Its root is the folder: page.html lies beside it.
	server := http.StripPrefix(sandbox.BankPath+"assets", http.FileServerFS(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=300")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.PathValue("file") == "tokens.css" {
			w.Header().Set("Content-Type", "text/css; charset=utf-8")
			_, _ = w.Write(design.Tokens)
			return
		}
		server.ServeHTTP(w, r)
	})
}
