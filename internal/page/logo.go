package page

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"sepad/internal/limit"
	"sepad/internal/turn"
	"sepad/internal/web"
	"sepad/internal/webhook"
)

const (
	maxLogo = 256 << 10
	// logoFresh is how long a logo is kept, logoFailed how long a host that
	// gave none is left alone.
	logoFresh   = 10 * time.Minute
	logoFailed  = time.Minute
	logoTimeout = 5 * time.Second
	// logoPatience is how long a page waits for it.
	logoPatience = 700 * time.Millisecond
	// maxLogos and maxKept bound what is kept: how many, and the bytes of them all.
	maxLogos     = 1000
	maxKept      = 32 << 20
	maxLogoHead  = 64 << 10
	maxRedirects = 3
	// lookPatience is how long a picture waits to be looked at.
	lookPatience = 5 * time.Second
	// logosAtOnce is how many are fetched for one merchant at a time: each is half a megabyte for as long as its host takes, and
	// there are as many as merchants care to name.
	logosAtOnce = 8
)

// logoTypes are the pictures that are passed on. Browsers run no script in a
// picture, whatever its type.
var logoTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"}

// Logos fetches merchants' logos for the payers, whose browsers then ask nobody
// but us: no other host learns who is paying.
type Logos struct {
	client *http.Client
	// fetching has one asker for each address, however many payers wait.
	fetching singleflight.Group
	// asking has a few fetched for a merchant at a time, and looking one picture looked at.
	asking, looking turn.Turns[string]

	mu   sync.Mutex
	kept map[string]logo
	// size is that of all pictures kept.
	size int
}

type logo struct {
	contentType string
	picture     []byte // nil when it could not be fetched
	look        pictureLook
	until       time.Time
	// whose is the merchant for whom it was fetched.
	whose string
}

// NewLogos makes a fetcher. Unless they are allowed it does not call private
// networks: an address of a logo must not become a way into the operator's own.
func NewLogos(allowPrivate bool) *Logos {
	dialer := &net.Dialer{Timeout: logoTimeout}
	if !allowPrivate {
		dialer.Control = webhook.PublicOnly().Safe
	}
	return &Logos{
		kept: map[string]logo{},
		client: &http.Client{
			Timeout: logoTimeout,
			// A picture is asked for every ten minutes: a connection that stays open meanwhile is of no use, and there are as many
			// hosts as merchants care to name.
			Transport: &http.Transport{
				DialContext: dialer.DialContext, TLSHandshakeTimeout: logoTimeout, MaxResponseHeaderBytes: maxLogoHead, DisableKeepAlives: true,
			},
			CheckRedirect: mayFollow,
		},
	}
}

var errNoLogo = errors.New("page: no picture")

// mayFollow lets a host say where its picture is, a few times, and never from https to
// where somebody on the way could change it. Each host is looked at like the first.
func mayFollow(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects || before[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errNoLogo
	}
	return nil
}

// get gives a logo, from memory while it is fresh. Whose it is says with whom a fetch takes its turn.
func (l *Logos) get(ctx context.Context, whose, address string, now time.Time) logo {
	l.mu.Lock()
	known, found := l.kept[address]
	l.mu.Unlock()
	if found && now.Before(known.until) {
		return known
	}
	renewed, _, _ := l.fetching.Do(address, func() (any, error) { return l.renew(ctx, whose, address, known, now), nil })
	return renewed.(logo)
}

// renew asks for a logo. While its host gives none, what is known of it stays; where its merchant has others fetched for too
// long it is asked for by the next payer.
func (l *Logos) renew(ctx context.Context, whose, address string, known logo, now time.Time) logo {
	patient, cancel := context.WithTimeout(ctx, logoPatience)
	leave, _, err := l.asking.Take(patient, whose, logosAtOnce)
	cancel()
	if err != nil {
		return known
	}
	defer leave()
	fetched, err := l.fetch(ctx, address)
	fetched.until = now.Add(logoFresh)
	if err != nil {
		fetched, fetched.until = known, now.Add(logoFailed)
	}
	fetched.whose = whose
	l.keep(address, fetched)
	return fetched
}

// soon gives a logo for a page that is being made: one that takes its time is
// there for the next page, and this one does without.
func (l *Logos) soon(ctx context.Context, whose, address string, now time.Time) logo {
	// The picture is for everybody's next visit, so that one who leaves early
	// does not stop it.
	ctx = context.WithoutCancel(ctx)
	answer := make(chan logo, 1)
	go func() { answer <- l.get(ctx, whose, address, now) }()
	timer := time.NewTimer(logoPatience)
	defer timer.Stop()
	select {
	case found := <-answer:
		return found
	case <-timer.C:
		return logo{}
	}
}

// keep keeps a logo. Where there is no room those of the same merchant go, and if that is not enough all of them: they come
// back with their next payer.
func (l *Logos) keep(address string, fetched logo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.letGo(address)
	for _, goes := range []func(logo) bool{func(one logo) bool { return one.whose == fetched.whose }, func(logo) bool { return true }} {
		if len(l.kept) < maxLogos && l.size+len(fetched.picture) <= maxKept {
			break
		}
		for other, one := range l.kept {
			if goes(one) {
				l.letGo(other)
			}
		}
	}
	l.kept[address] = fetched
	l.size += len(fetched.picture)
}

// letGo forgets one. What is kept is locked.
func (l *Logos) letGo(address string) {
	l.size -= len(l.kept[address].picture)
	delete(l.kept, address)
}

func (l *Logos) fetch(ctx context.Context, address string) (logo, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return logo{}, err
	}
	answer, err := l.client.Do(request)
	if err != nil {
		return logo{}, err
	}
	defer answer.Body.Close()
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil || answer.StatusCode != http.StatusOK || !isPicture(kind) {
		return logo{}, errNoLogo
	}
	var picture bytes.Buffer
	size, err := io.Copy(&picture, io.LimitReader(answer.Body, maxLogo+1))
	if err != nil || size == 0 || size > maxLogo {
		return logo{}, errors.Join(errNoLogo, err)
	}
	return logo{contentType: kind, picture: picture.Bytes(), look: l.lookInTurn(ctx, kind, picture.Bytes())}, nil
}

// lookInTurn looks at one picture at a time: unpacked they are a hundred times as large, and there are as many as merchants
// care to name. One whose turn does not come in time is shown without.
func (l *Logos) lookInTurn(ctx context.Context, kind string, picture []byte) pictureLook {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	leave, _, err := l.looking.Take(ctx, "", 1)
	if err != nil {
		return pictureLook{}
	}
	defer leave()
	return lookAt(kind, picture)
}

func isPicture(kind string) bool {
	for _, one := range logoTypes {
		if kind == one {
			return true
		}
	}
	return false
}

// logoView is a logo as the head of the page shows it.
type logoView struct {
	Address template.URL
	// Dark takes the place of Address on dark screens, "" when there is none.
	Dark template.Srcset
	// Alt is the merchant's name, "" where the name stands beside the logo.
	Alt string
	// Plate says on which screens the logo needs a ground of its own.
	Plate string
}

// logoOf is the logo of the session's page, nil where the name must do: it is
// looked at here, so that no browser shows a broken picture. A symbol without
// a word gets the name beside it, and a logo in the colour of the screen a plate.
func (p *Page) logoOf(r *http.Request, v visit) *logoView {
	branding := v.Page.Branding
	if branding.LogoURL == nil {
		return nil
	}
	found := p.Logos.soon(r.Context(), v.Tenant.ID.String(), *branding.LogoURL, p.Real.Now())
	if found.picture == nil {
		return nil
	}
	path := "/pay/" + v.Session.Token + "/logo/"
	shown := &logoView{Address: template.URL(path)} //nolint:gosec // G203: a token has letters that need no quoting
	if v.Session.ID == uuid.Nil {
		shown.Address = found.inline()
	}
	if !found.look.isSymbol {
		shown.Alt = v.Tenant.Name
	}
	if branding.LogoDarkURL != nil {
		if dark := p.Logos.soon(r.Context(), v.Tenant.ID.String(), *branding.LogoDarkURL, p.Real.Now()); dark.picture != nil {
			shown.Dark = template.Srcset(path + "?dark") //nolint:gosec // G203: likewise
			if v.Session.ID == uuid.Nil {
				shown.Dark = template.Srcset(dark.inline()) //nolint:gosec // G203: likewise
			}
			return shown
		}
	}
	switch found.look.tone {
	case toneLight:
		shown.Plate = "when-light"
	case toneDark:
		shown.Plate = "when-dark"
	}
	return shown
}

// showLogo answers GET /pay/{token}/logo/.
func (p *Page) showLogo(w http.ResponseWriter, r *http.Request) error {
	if err := p.admit(r, limit.Page); err != nil {
		return err
	}
	view, err := p.Checkout.Retrieve(r.Context(), r.PathValue("token"))
	if err != nil {
		return err
	}
	if view.Page == nil {
		return web.ErrNotFound
	}
	address := view.Page.Branding.LogoURL
	if r.URL.Query().Has("dark") {
		address = view.Page.Branding.LogoDarkURL
	}
	if address == nil {
		return web.ErrNotFound
	}
	return p.LogoAt(w, r, view.Tenant.ID.String(), *address)
}

// LogoAt answers with the picture at an address, as pages show it, for a merchant or for somebody who chooses one.
func (p *Page) LogoAt(w http.ResponseWriter, r *http.Request, whose, address string) error {
	found := p.Logos.get(context.WithoutCancel(r.Context()), whose, address, p.Real.Now())
	if found.picture == nil {
		return web.ErrNotFound
	}
	header := w.Header()
	header.Set("Content-Type", found.contentType)
	header.Set("Content-Length", strconv.Itoa(len(found.picture)))
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "private, max-age=600")
	_, _ = w.Write(found.picture)
	return nil
}
