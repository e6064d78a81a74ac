//go:build unix

package main

import (
	"context"
	"fmt"
)

// What a read cannot do without: whose the key is and that it was not revoked, and the session with its lead as they are.
var (
	asksKey = bareAsk{
		Statement: `SELECT k.id, k.tenant_id, n.number, n.setup_version, k.scopes FROM api_keys k JOIN tenants n ON n.id = k.tenant_id
			WHERE k.key_hash = $1 AND k.revoked_at IS NULL`,
		about: `key_hash`, from: `api_keys`,
	}
	asksSession = bareAsk{
		Statement: `SELECT s.*, l.* FROM sessions s JOIN leads l ON l.tenant_id = s.tenant_id AND l.id = s.lead_id WHERE s.tenant_id = $1 AND s.token = $2`,
		about:     `tenant_id, token`, from: `sessions`,
	}
)

// studyReads holds reads against programs that do nothing but the least of them: net/http, these statements, and bytes from memory. It takes
// as many rounds as others take rows.
func studyReads(ctx context.Context, l *lab, rounds int) (found figuresTable, err error) {
	found.add("read", "sepad", "bare", "memory", "sepad of bare", "sepad of memory", "bare of memory")
	for _, read := range []struct {
		name  string
		asks  []bareAsk
		stock func(context.Context, *readLab) error
	}{
		{"retrieve", []bareAsk{asksKey, asksSession}, func(ctx context.Context, r *readLab) error { return r.stock(ctx, sessionsPath) }},
		{"page", []bareAsk{asksSession}, stockPages},
		{"validate", []bareAsk{asksKey}, stockIBANs},
	} {
		ours, bare, memory, err := l.studyRead(ctx, "reads_"+read.name, rounds, read.stock, read.asks)
		if err != nil {
			return found, fmt.Errorf("%s: %w", read.name, err)
		}
		found.add(read.name, shortNumber(ours), shortNumber(bare), shortNumber(memory),
			fmt.Sprintf("%.2f", ours/bare), fmt.Sprintf("%.2f", ours/memory), fmt.Sprintf("%.2f", bare/memory))
	}
	return found, nil
}

// studyRead gives the medians of requests a second.
func (l *lab) studyRead(ctx context.Context, name string, rounds int, stock func(context.Context, *readLab) error, asks []bareAsk) (ours, bare, memory float64, err error) {
	r, err := l.openReads(ctx, name)
	if err != nil {
		return 0, 0, 0, err
	}
	defer r.server.stop()
	if err := stock(ctx, r); err != nil {
		return 0, 0, 0, err
	}
	addresses := []string{r.server.address}
	for _, asked := range [][]bareAsk{asks, nil} {
		server, err := r.startAlike(ctx, asked)
		if err != nil {
			return 0, 0, 0, err
		}
		defer server.stop()
		addresses = append(addresses, server.address)
	}
	figures := make([][]float64, len(addresses))
	for round := range rounds {
		for i := range addresses {
			which := (round + i) % len(addresses)
			job := r.job
			job.Address = addresses[which]
			found, err := load(ctx, job)
			if err != nil {
				return 0, 0, 0, err
			}
			if found.errors > 0 {
				return 0, 0, 0, fmt.Errorf("%d errors: %s", found.errors, found.trouble)
			}
			figures[which] = append(figures[which], found.figure)
			l.say("%s: round %d of %d: %s a second by %s", name, round+1, rounds, shortNumber(found.figure), []string{"sepad", "bare", "memory"}[which])
		}
	}
	return median(figures[0]), median(figures[1]), median(figures[2]), nil
}
