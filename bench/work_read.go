//go:build unix

package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

//go:embed sql/retrieve.sql
var retrieveSQL string

var (
	retrieveWork = work{
		name:    "retrieve",
		what:    "sessions retrieved by the merchant's server on PostgreSQL",
		against: "pgbench, one select of a session and its lead by key",
		unit:    "per second",
		better:  moreIsBetter,
		floor:   0.5,
		goal:    0.8,
		measure: measureRetrieve,
	}
	pageWork = work{
		name:    "page",
		what:    "hosted payment pages loaded on PostgreSQL",
		against: "the same bytes from memory by net/http",
		unit:    "per second",
		better:  moreIsBetter,
		floor:   0.5,
		goal:    0.8,
		measure: measurePage,
	}
	validateWork = work{
		name:    "iban-validate",
		what:    "IBANs validated for merchants' servers on PostgreSQL",
		against: "the same bytes from memory by net/http",
		unit:    "per second",
		better:  moreIsBetter,
		floor:   0.5,
		goal:    0.8,
		measure: measureValidate,
	}
)

// sessionRounds is how many sessions each key has that are read in turn: enough that nobody is served from what was just read.
const sessionRounds = 4

// readLab is a server with something to read.
type readLab struct {
	*lab
	server      *process
	databaseURL string
	job         loadJob
}

func (l *lab) openReads(ctx context.Context, name string) (*readLab, error) {
	databaseURL, err := l.database(ctx, name)
	if err != nil {
		return nil, err
	}
	server, shop, err := l.openSepad(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	return &readLab{l, server, databaseURL, loadJob{
		Kind: "read", Address: server.address, Connections: connections, Seconds: l.roundTime().Seconds(), Merchants: shop.Merchants, addresses: &atomic.Uint32{},
	}}, nil
}

// stock makes sessions, each with the key of the same place in the job, and has their addresses read in turn.
func (r *readLab) stock(ctx context.Context, before string) error {
	r.job.Merchants = slices.Repeat(r.job.Merchants, sessionRounds)
	makers, err := r.job.connect(1)
	if err != nil {
		return err
	}
	defer makers[0].client.connection.Close()
	for range r.job.Merchants {
		token, err := makers[0].createSession()
		if err != nil {
			return err
		}
		r.job.Paths = append(r.job.Paths, before+token+"/")
	}
	return execute(ctx, r.databaseURL, "VACUUM (ANALYZE)")
}

// againstMemory lets the server and one that has its answer in memory take turns.
func (r *readLab) againstMemory(ctx context.Context, w work) (measurement, error) {
	first, err := r.job.connect(1)
	if err != nil {
		return measurement{}, err
	}
	defer first[0].client.connection.Close()
	memory, err := r.startMemory(ctx, r.server.address, first[0].nextRead())
	if err != nil {
		return measurement{}, err
	}
	defer memory.stop()
	limit := r.job
	limit.Address = memory.address
	return r.alternate(ctx, w, func(ctx context.Context) (sample, error) { return load(ctx, limit) })
}

func (r *readLab) alternate(ctx context.Context, w work, limit side) (measurement, error) {
	m, err := alternate(ctx, r.lab, w, r.rounds(), func(ctx context.Context) (sample, error) { return load(ctx, r.job) }, limit)
	return m.withLatency(), err
}

func measureRetrieve(ctx context.Context, l *lab, w work) (measurement, error) {
	r, err := l.openReads(ctx, "retrieve")
	if err != nil {
		return measurement{}, err
	}
	defer r.server.stop()
	if err := r.stock(ctx, sessionsPath); err != nil {
		return measurement{}, err
	}
	databaseURL, err := l.limitDatabase(ctx, "retrieve_limit")
	if err != nil {
		return measurement{}, err
	}
	if err := execute(ctx, databaseURL, payableSQL, 1, len(r.job.Paths), time.Now().UnixMicro()); err != nil {
		return measurement{}, err
	}
	if err := execute(ctx, databaseURL, "VACUUM (ANALYZE)"); err != nil {
		return measurement{}, err
	}
	bench, err := l.newPgbench("retrieve", retrieveSQL, databaseURL)
	if err != nil {
		return measurement{}, err
	}
	bench.variables["sessions"] = int64(len(r.job.Paths))
	return r.alternate(ctx, w, func(ctx context.Context) (sample, error) { return bench.forTime(ctx, l.roundTime()) })
}

// measurePage has payers come to a page with a merchant's own colours and words.
func measurePage(ctx context.Context, l *lab, w work) (measurement, error) {
	r, err := l.openReads(ctx, "page")
	if err != nil {
		return measurement{}, err
	}
	defer r.server.stop()
	if err := stockPages(ctx, r); err != nil {
		return measurement{}, err
	}
	return r.againstMemory(ctx, w)
}

func stockPages(ctx context.Context, r *readLab) error {
	if err := r.applyPages(ctx, r.databaseURL); err != nil {
		return err
	}
	if err := r.stock(ctx, "/pay/"); err != nil {
		return err
	}
	r.job.Merchants = nil // payers have no keys
	return nil
}

// kindPage is that of hosted pages in ids.
const kindPage = 0xd

// applyPages gives the campaign of every tenant a page.
func (l *lab) applyPages(ctx context.Context, databaseURL string) error {
	var text strings.Builder
	text.WriteString("tenants:\n")
	for tenant := 1; tenant <= shopTenants; tenant++ {
		fmt.Fprintf(&text, `  - id: %s
    name: Shop %d
    hosted_pages:
      - id: %[3]s
        name: Standard page
        branding: {primary_color: "#0b6b4b", accent_color: "#d97706"}
        content: {headline: {en: Your order, de: Ihre Bestellung}, help_email: help@shop.example}
        success_redirect_url: https://shop.example/thanks
    campaigns:
      - {id: %[4]s, name: Spring, offer_id: %[5]s, gateway_id: %[6]s, hosted_page_id: %[3]s}
`, recordID(kindTenant, tenant), tenant, recordID(kindPage, tenant), recordID(kindCampaign, tenant), recordID(kindOffer, tenant), recordID(kindGateway, tenant))
	}
	path := filepath.Join(l.folder, "pages.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return err
	}
	return l.runSepad(ctx, databaseURL, "apply", "-f", path)
}

func measureValidate(ctx context.Context, l *lab, w work) (measurement, error) {
	r, err := l.openReads(ctx, "validate")
	if err != nil {
		return measurement{}, err
	}
	defer r.server.stop()
	if err := stockIBANs(ctx, r); err != nil {
		return measurement{}, err
	}
	return r.againstMemory(ctx, w)
}

func stockIBANs(_ context.Context, r *readLab) error {
	r.job.Paths = []string{"/api/v1/iban-validate/"}
	for _, iban := range sampleIBANs {
		r.job.Bodies = append(r.job.Bodies, `{"iban":"`+iban+`"}`)
	}
	return nil
}
