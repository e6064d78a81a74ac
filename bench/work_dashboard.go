//go:build unix

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	resource "sepad/internal/merchant"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/vault"
)

//go:embed sql/counter.sql
var counterSQL string

var dashboardWork = work{
	name:    "dashboard",
	what:    "lists and searches of the dashboard among many transactions",
	against: "the same among 10,000",
	unit:    "pages per second",
	better:  moreIsBetter,
	floor:   0.85,
	goal:    0.95,
	measure: measureDashboard,
}

const (
	fewPayments      = 10_000
	manyPayments     = 100_000
	manyPaymentsFull = 2_000_000
	// paymentsEach is how many payments a purchase has.
	paymentsEach = 4
	// looks is how often each page is looked at by itself, to tell which are the slowest.
	looks = 15
)

// counter is a server with somebody signed in who works for the one tenant that has
// payments.
type counter struct {
	server   *process
	cookie   string
	payments int
}

func measureDashboard(ctx context.Context, l *lab, w work) (measurement, error) {
	count := manyPayments
	if l.full {
		count = manyPaymentsFull
	}
	few, err := l.openCounter(ctx, "counter_few", fewPayments)
	if err != nil {
		return measurement{}, err
	}
	defer few.server.stop()
	many, err := l.openCounter(ctx, "counter_many", count)
	if err != nil {
		return measurement{}, err
	}
	defer many.server.stop()
	m, err := alternate(ctx, l, w, l.rounds(), many.work(l), few.work(l))
	if err != nil {
		return m, err
	}
	slowest, err := slowestPages(many, few)
	m.notes = append(m.notes, fmt.Sprintf("among %d transactions, %d lists and searches in turn", count, len(many.paths())), slowest)
	return m, err
}

// openCounter copies a subscription with its payments, and signs somebody in.
func (l *lab) openCounter(ctx context.Context, name string, payments int) (*counter, error) {
	server, databaseURL, err := l.openPaid(ctx, name)
	if err != nil {
		return nil, err
	}
	c := &counter{server: server, payments: payments}
	l.say("%s: writing %d payments", name, payments)
	if err = fill(ctx, databaseURL, fmt.Sprintf(counterSQL, payments, ledgerEnd.UnixMicro(), paymentsEach)); err == nil {
		c.cookie, err = signIn(ctx, databaseURL)
	}
	if err != nil {
		server.stop()
		return nil, err
	}
	return c, nil
}

// signIn is the cookie of somebody who works in finance for the tenant that has payments.
func signIn(ctx context.Context, databaseURL string) (cookie string, err error) {
	var tenantID uuid.UUID
	if err := readRow(ctx, databaseURL, `SELECT tenant_id FROM transactions LIMIT 1`, &tenantID); err != nil {
		return "", err
	}
	sealing, err := vault.New(benchKey)
	if err != nil {
		return "", err
	}
	books, err := store.Open(ctx, databaseURL, store.Options{Vault: sealing})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, books.Close()) }()
	staff := &people.People{Store: books, Clock: clock.Real{}, URL: "http://127.0.0.1", Environment: resource.Sandbox}
	link, err := staff.DeveloperLink(ctx)
	if err != nil {
		return "", err
	}
	address, err := url.Parse(link.URL)
	if err != nil {
		return "", err
	}
	session, err := staff.SignInByLink(ctx, resource.Secret(address.Query().Get("ticket")), "127.0.0.1")
	if err != nil {
		return "", err
	}
	developer, err := books.OperatorByEmail(ctx, people.DeveloperEmail)
	if err != nil {
		return "", err
	}
	_, err = staff.Change(ctx, developer.ID, func(o *store.Operator) {
		o.Role, o.Tenants = store.Finance, store.TenantSet{IDs: []uuid.UUID{tenantID}}
	})
	return "sepad=" + session.Text.Reveal(), err
}

// paths are every list, and what is typed into search fields: what names one record is in
// the middle of them.
func (c *counter) paths() (all []string) {
	payment, purchase := c.payments/2, c.payments/2/paymentsEach
	for _, list := range []string{"transactions", "sessions", "subscriptions", "chargebacks", "leads", "mandates", "events"} {
		all = append(all, "/dashboard/"+list+"/")
		for _, typed := range []string{
			fmt.Sprintf("TXN-20260101-%08d", payment), fmt.Sprintf("01900000-0000-7000-8000-%012x", purchase), fmt.Sprintf("payer.%d@shop.example", purchase),
			"Erika Mustermanna", "Mustermanna", "9.99", "4000",
		} {
			all = append(all, "/dashboard/"+list+"/?q="+url.QueryEscape(typed))
		}
	}
	return append(all, "/dashboard/transactions/?status=declined", "/dashboard/sessions/?status=COMPLETED", "/dashboard/subscriptions/?status=ACTIVE")
}

func (c *counter) work(l *lab) side {
	job := loadJob{Kind: "page", Address: c.server.address, Connections: readers, Seconds: l.roundTime().Seconds(), Cookie: c.cookie, Paths: c.paths()}
	return func(ctx context.Context) (sample, error) { return load(ctx, job) }
}

// slowestPages looks at each page by itself, among many and among few in turn, and says
// which have lost most.
func slowestPages(many, few *counter) (string, error) {
	type page struct {
		path  string
		ratio float64
	}
	var pages []page
	ours, theirs := many.paths(), few.paths()
	for i := range ours {
		var took [2][]float64
		for range looks {
			for side, of := range []struct {
				*counter
				path string
			}{{many, ours[i]}, {few, theirs[i]}} {
				seconds, err := of.look(of.path)
				if err != nil {
					return "", fmt.Errorf("%s: %w", of.path, err)
				}
				took[side] = append(took[side], seconds)
			}
		}
		pages = append(pages, page{ours[i], median(took[1]) / median(took[0])})
	}
	slices.SortFunc(pages, func(a, b page) int { return int(1000 * (a.ratio - b.ratio)) })
	text := "slowest against few:"
	for _, p := range pages[:5] {
		text += fmt.Sprintf(" %s %.2f,", p.path, p.ratio)
	}
	return text[:len(text)-1], nil
}

// look is how long a page takes.
func (c *counter) look(path string) (seconds float64, err error) {
	connection, err := dial(c.server.address)
	if err != nil {
		return 0, err
	}
	defer connection.connection.Close()
	began := time.Now()
	err = connection.get(path, "Cookie: "+c.cookie, io.Discard)
	return time.Since(began).Seconds(), err
}
