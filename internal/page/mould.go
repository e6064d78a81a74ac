package page

import (
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/cache"
	"sepad/internal/payment"
	"sepad/internal/web"
)

// What two payers of one offer see when they first come differs in four texts: their name, the reference of their mandate,
// the hash of its words, and the token in the address of a logo. Everything else is made once, by the template, for as
// long as the merchant's set-up and the day stay the same.

// mouldKey is all that a mould was made of.
type mouldKey struct {
	tenant                         uuid.UUID
	setup                          int64
	gateway, campaign, offer, page uuid.UUID

	terms                    payment.Terms // without the price of the trial
	due                      payment.Minor
	product, description     string
	mode                     payment.AcceptanceMode
	hasAddress, hasReference bool

	language           string
	today, earliestDue string
	logo               logoView // without its address
}

// mouldKey takes every field of the session and its lead that the page shows and that no hole is for.
func (v visit) mouldKey(logo *logoView) mouldKey {
	s := v.Session
	k := mouldKey{
		tenant: v.Tenant.ID, setup: v.SetupVersion, gateway: s.GatewayID, campaign: orNil(s.CampaignID), offer: orNil(s.OfferID), page: orNil(s.HostedPageID),
		terms: s.Terms, due: s.Terms.DueMinor(), product: s.Options.ProductName, description: s.Options.ProductDescription, mode: s.AcceptanceMode,
		hasAddress: v.Lead.HasAddress(), hasReference: s.MandateReference != "",
		language: v.Code, today: payment.DateOf(v.now).String(), earliestDue: v.EarliestDue.String(),
	}
	k.terms.TrialMinor = nil
	if logo != nil {
		k.logo = *logo
		k.logo.Address = "shown"
		if logo.Dark != "" {
			k.logo.Dark = "shown"
		}
	}
	return k
}

func orNil(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}

// hole is where a payer's own text goes.
type hole int8

const (
	holeNone hole = iota
	holeHolder
	holeReference
	holeHash
	holeToken
	holes
)

// A hole is marked by a word that nobody can have written, and that no context of a page needs to be quoted for.
var holeMarks = [holes]string{
	holeHolder: "h" + rand.Text(), holeReference: "r" + rand.Text(), holeHash: "m" + rand.Text(), holeToken: "t" + rand.Text(),
}

// piece is a part of a page, and the hole behind it.
type piece struct {
	text   string
	before hole
}

// mould is a page with holes, and the words of its mandate with theirs.
type mould struct {
	page    []piece
	mandate []piece
	size    int
}

// Moulds are those that this process has made.
type Moulds struct{ made cache.Cache[mouldKey, *mould] }

// NewMoulds bounds what sessions with terms of their own leave behind.
func NewMoulds() *Moulds {
	const most = 256
	return &Moulds{cache.Cache[mouldKey, *mould]{Most: most}}
}

// isFirst tells a visit of somebody who has done nothing here yet.
func (v visit) isFirst() bool { return v.draft == nil && v.last == nil }

// showFirst shows the form to somebody who sees it for the first time.
func (p *Page) showFirst(w http.ResponseWriter, r *http.Request, status int, v visit) error {
	var logo *logoView
	if v.Page != nil {
		logo = p.logoOf(r, v)
	}
	key := v.mouldKey(logo)
	made, known := p.Moulds.made.Get(key)
	if !known {
		var err error
		if made, err = p.makeMould(r, v); err != nil {
			return err
		}
		p.Moulds.made.Keep(key, made)
	}
	w.Header().Set("X-Frame-Options", "DENY")
	web.WritePage(w, r, status, made.fill(v), contentPolicy, referrer)
	return nil
}

// makeMould has the template write the page of a payer who is nobody.
func (p *Page) makeMould(r *http.Request, v visit) (*mould, error) {
	v.Lead.FirstName, v.Lead.LastName = holeMarks[holeHolder], ""
	v.Session.Token = holeMarks[holeToken]
	if v.Session.MandateReference != "" {
		v.Session.MandateReference = holeMarks[holeReference]
	}
	f := v.form()
	f.MandateHash = holeMarks[holeHash]
	html, err := render("page.html", p.withForm(r, v, f))
	if err != nil {
		return nil, err
	}
	return &mould{page: cut(string(html)), mandate: cut(f.Mandate.text()), size: len(html)}, nil
}

// cut takes a text apart at its holes.
func cut(text string) (pieces []piece) {
	for text != "" {
		next, at := holeNone, len(text)
		for one := holeNone + 1; one < holes; one++ {
			if i := strings.Index(text, holeMarks[one]); i >= 0 && i < at {
				next, at = one, i
			}
		}
		pieces = append(pieces, piece{text[:at], next})
		text = text[min(at+len(holeMarks[next]), len(text)):]
	}
	return pieces
}

// fill makes the page of a payer.
func (m *mould) fill(v visit) []byte {
	own := [holes]string{holeHolder: v.knownHolder(), holeReference: v.Session.MandateReference, holeToken: v.Session.Token}
	own[holeHash] = hashOf(string(join(nil, m.mandate, &own)))
	for one, text := range own {
		own[one] = quoted.Replace(text)
	}
	const room = 512 // for what fills holes
	return join(make([]byte, 0, m.size+room), m.page, &own)
}

func join(to []byte, pieces []piece, own *[holes]string) []byte {
	for _, p := range pieces {
		to = append(append(to, p.text...), own[p.before]...)
	}
	return to
}

// quoted is how html/template writes a text, between tags and as an attribute's value.
var quoted = strings.NewReplacer("\x00", "\ufffd", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")
