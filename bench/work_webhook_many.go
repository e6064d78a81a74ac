//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

var webhookManyWork = work{
	name:    "webhook-many",
	what:    "events delivered from the queue on PostgreSQL to 900 of 1,000 endpoints; the others never answer",
	against: "a bare Go client posting the same signed bodies to the 900, 32 in flight",
	unit:    "per second",
	better:  moreIsBetter,
	floor:   0.65,
	goal:    0.80,
	measure: measureWebhookMany,
}

const (
	endpoints = 1000
	// Every tenth endpoint hangs.
	hangingEvery = 10
	hanging      = endpoints / hangingEvery
	healthy      = endpoints - hanging
	// eventsPerEndpoint wait in line for each. Those of an endpoint that hangs last for all rounds: one attempt at a time takes
	// until its time is out.
	eventsPerEndpoint = 16
)

// crossroads is where events go: to endpoints that take them, and to others that hang.
type crossroads struct {
	server      *process
	databaseURL string
	takes       *receiver
	hangs       *http.Server
}

func measureWebhookMany(ctx context.Context, l *lab, w work) (measurement, error) {
	databaseURL, err := l.database(ctx, "webhook_many")
	if err != nil {
		return measurement{}, err
	}
	server, _, err := l.openSepad(ctx, databaseURL)
	if err != nil {
		return measurement{}, err
	}
	defer server.stop()
	c := &crossroads{server: server, databaseURL: databaseURL}
	if err := c.open(ctx, l); err != nil {
		return measurement{}, err
	}
	defer c.close()
	if _, err := insertEvents(ctx, databaseURL, hanging*eventsPerEndpoint, func(i int) (string, string) {
		return endpointID(i % hanging * hangingEvery)
	}); err != nil {
		return measurement{}, err
	}
	m, err := alternate(ctx, l, w, l.rounds(), c.deliver, c.takes.barely(healthy*eventsPerEndpoint, c.takes.addresses...))
	if err != nil {
		return m, err
	}
	attempts, err := c.check(ctx)
	m.notes = append(m.notes, fmt.Sprintf("each of %d events came once; %d attempts at endpoints that hang were given up", healthy*eventsPerEndpoint*(l.rounds()+1), attempts))
	return m, err
}

// endpointID is the endpoint of a number: tenants have them in turn.
func endpointID(number int) (tenant, profile string) {
	return recordID(kindTenant, 1+number%shopTenants), recordID(kindProfile, number)
}

// healthyID is the endpoint of a number among those that take events.
func healthyID(number int) (tenant, profile string) {
	const each = hangingEvery - 1
	return endpointID(number/each*hangingEvery + 1 + number%each)
}

// open listens for all endpoints, each at a port of its own, and sets them up.
func (c *crossroads) open(ctx context.Context, l *lab) (err error) {
	if c.takes, err = openReceiver(); err != nil {
		return err
	}
	if err := c.takes.listen(healthy - 1); err != nil {
		return err
	}
	waits := &receiver{server: &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it noticed that the sender has given up
		<-r.Context().Done()
	})}}
	c.hangs = waits.server
	if err := waits.listen(hanging); err != nil {
		return err
	}
	profiles := make([]strings.Builder, shopTenants)
	takes, hangs := c.takes.addresses, waits.addresses
	for number := range endpoints {
		from := &takes
		if number%hangingEvery == 0 {
			from = &hangs
		}
		_, profile := endpointID(number)
		fmt.Fprintf(&profiles[number%shopTenants], "      - {id: %s, name: Backend %d, url: \"http://%s/hooks\", signing_secret: %s}\n",
			profile, number, (*from)[0], webhookSecret)
		*from = (*from)[1:]
	}
	var text strings.Builder
	text.WriteString("tenants:\n")
	for i := range profiles {
		fmt.Fprintf(&text, "  - id: %s\n    name: Shop %d\n    webhook_profiles:\n%s", recordID(kindTenant, i+1), i+1, profiles[i].String())
	}
	path := filepath.Join(l.folder, "webhooks.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return err
	}
	return l.runSepad(ctx, c.databaseURL, "apply", "-f", path)
}

func (c *crossroads) close() {
	c.takes.close()
	_ = c.hangs.Close()
}

// deliver puts a backlog into line, as a process that died leaves it, and has it found by a sweep.
func (c *crossroads) deliver(ctx context.Context) (sample, error) {
	ids, err := insertEvents(ctx, c.databaseURL, healthy*eventsPerEndpoint, func(i int) (string, string) { return healthyID(i % healthy) })
	if err != nil {
		return sample{}, err
	}
	done := c.takes.expect(ids, len(ids))
	if err := sweepWebhooks(ctx, c.databaseURL); err != nil {
		return sample{}, err
	}
	s, err := c.takes.result(ctx, done)
	if err != nil {
		return s, err
	}
	return s, awaitRecorded(ctx, c.databaseURL, hanging*eventsPerEndpoint)
}

// check makes sure that each delivery took one attempt, and that what goes to endpoints that hang still waits.
func (c *crossroads) check(ctx context.Context) (given int64, err error) {
	var again, lost int64
	err = readRow(ctx, c.databaseURL, `SELECT COUNT(*) FILTER (WHERE e.delivery_status = 'delivered' AND e.attempt_count <> 1),
		COUNT(*) FILTER (WHERE e.delivery_status NOT IN ('delivered', 'pending')), (SELECT COUNT(*) FROM webhook_attempts WHERE status_code = 0) FROM events e`,
		&again, &lost, &given)
	if err == nil && (again > 0 || lost > 0) {
		err = fmt.Errorf("%d events were delivered with more than one attempt, %d were given up", again, lost)
	}
	return given, err
}
