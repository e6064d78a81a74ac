//go:build unix

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

var webhookWork = work{
	name:    "webhook",
	what:    "events delivered from the queue on PostgreSQL, each recorded",
	against: "a bare Go client posting the same signed bodies, 32 in flight",
	unit:    "per second",
	better:  moreIsBetter,
	floor:   0.65,
	goal:    0.80,
	measure: measureWebhook,
}

const (
	deliveriesPerRound = 4096
	webhooksInFlight   = 32
	webhookSecret      = "whsec_of_the_bench"
	webhookPatience    = time.Minute
	kindProfile        = 0xc
)

// webhookBody is an event as merchants get them.
var webhookBody = `{"adapter_unique_id":"SBX-7K2M9QXA","amount":"29.99","bic":"COBADEFFXXX","created_at":"2026-03-02T09:15:26.512000Z",` +
	`"currency":"EUR","customer_email_csv":"ada.keller@shop.example","customer_name_csv":"Ada Keller","date_processed":"2026-03-02T09:15:27.123456Z",` +
	`"iban":"******************3000","id":"019cac92-4410-7c3e-9d5a-77b1f0c2a901","lead_id":"019cac92-4410-7c3e-9d5a-77b1f0c2a903",` +
	`"mandate_date":"2026-03-02T09:15:26.000000Z","mandate_reference_id":"MND-7K2M9QXA4TPL","merchant_transaction_id":"TXN-20260302-7K2M9QXA",` +
	`"order_id":"019cac92-4410-7c3e-9d5a-77b1f0c2a902","payment_gateway_id":"019cac92-4410-7c3e-9d5a-77b1f0c2a904","source":"hosted_page",` +
	`"status":"approved","subscription_id":null,"tenant_reference_id":"order-2026-000417","transaction_id":"SBX-7K2M9QXA","type":"sdd_sale",` +
	`"updated_at":"2026-03-02T09:15:27.123456Z"}`

func measureWebhook(ctx context.Context, l *lab, w work) (measurement, error) {
	databaseURL, err := l.database(ctx, "webhook_ours")
	if err != nil {
		return measurement{}, err
	}
	server, _, err := l.openSepad(ctx, databaseURL)
	if err != nil {
		return measurement{}, err
	}
	defer server.stop()
	receiver, err := openReceiver()
	if err != nil {
		return measurement{}, err
	}
	defer receiver.close()
	if err := l.applyProfile(ctx, databaseURL, receiver.address); err != nil {
		return measurement{}, err
	}
	m, err := alternate(ctx, l, w, l.rounds(),
		func(ctx context.Context) (sample, error) { return deliverFromQueue(ctx, databaseURL, receiver) },
		receiver.barely(deliveriesPerRound, receiver.address))
	if err != nil {
		return m, err
	}
	return m, checkDelivered(ctx, databaseURL)
}

// barely has the bare client post a number of events to addresses in turn.
func (r *receiver) barely(count int, addresses ...string) side {
	job := loadJob{Kind: "webhook", Address: addresses[0], Connections: webhooksInFlight, Count: count, Paths: addresses}
	return func(ctx context.Context) (sample, error) {
		done := r.expect(nil, count)
		if _, err := load(ctx, job); err != nil {
			return sample{}, err
		}
		return r.result(ctx, done)
	}
}

// applyProfile has the first tenant's events sent to the receiver.
func (l *lab) applyProfile(ctx context.Context, databaseURL, address string) error {
	path := filepath.Join(l.folder, "webhook.yaml")
	text := fmt.Sprintf("tenants:\n  - id: %s\n    name: Shop 1\n    webhook_profiles:\n"+
		"      - {id: %s, name: Backend, url: \"http://%s/hooks\", signing_secret: %s, default: true}\n",
		recordID(kindTenant, 1), recordID(kindProfile, 1), address, webhookSecret)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return l.runSepad(ctx, databaseURL, "apply", "-f", path)
}

// deliverFromQueue puts a backlog into the database and has it sent. What is
// measured lies between the first call at the receiver and the last.
func deliverFromQueue(ctx context.Context, databaseURL string, receiver *receiver) (sample, error) {
	ids, err := insertEvents(ctx, databaseURL, deliveriesPerRound, func(int) (tenant, profile string) {
		return recordID(kindTenant, 1), recordID(kindProfile, 1)
	})
	if err != nil {
		return sample{}, err
	}
	done := receiver.expect(ids, len(ids))
	if err := sweepWebhooks(ctx, databaseURL); err != nil {
		return sample{}, err
	}
	s, err := receiver.result(ctx, done)
	if err != nil {
		return s, err
	}
	return s, awaitRecorded(ctx, databaseURL, 0)
}

// insertEvents writes events, each for the endpoint of its number, and puts them into line
// in one unit: nobody has heard of them, as when the process that wrote them has died.
func insertEvents(ctx context.Context, databaseURL string, count int, endpoint func(int) (tenant, profile string)) ([]string, error) {
	ids := make([]string, count)
	rows, places := make([][]any, len(ids)), make([][]any, len(ids))
	now := time.Now().UnixMicro()
	for i := range ids {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		ids[i] = id.String()
		tenant, profile := endpoint(i)
		places[i] = []any{uuid.MustParse(tenant), uuid.MustParse(profile), id}
		rows[i] = []any{places[i][0], id, ids[i], "transaction.created", places[i][1], webhookBody, now, "delivered", 1}
	}
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer connection.Close(ctx)
	return ids, pgx.BeginFunc(ctx, connection, func(tx pgx.Tx) error {
		columns := []string{"tenant_id", "id", "event_key", "kind", "webhook_profile_id", "payload", "created_at", "delivery_status", "attempt_count"}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"events"}, columns, pgx.CopyFromRows(rows)); err != nil {
			return err
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"events_in_line"}, []string{"tenant_id", "webhook_profile_id", "event_id"}, pgx.CopyFromRows(places))
		return err
	})
}

// sweepWebhooks has what is in line found by a sweep.
func sweepWebhooks(ctx context.Context, databaseURL string) error {
	return execute(ctx, databaseURL, `INSERT INTO river_job (args, kind, max_attempts, metadata, priority, queue, scheduled_at, state)
		VALUES ('{}', 'sweep_webhooks', 1, '{}', 1, 'default', now(), 'available')`)
}

// waitingEvents counts what is in line, and what has not come through.
const waitingEvents = "SELECT (SELECT COUNT(*) FROM events_in_line) + (SELECT COUNT(*) FROM events WHERE delivery_status <> 'delivered')"

// awaitRecorded lets the last results be written, so that a round does not reach
// into the next; so many events are not delivered at all.
func awaitRecorded(ctx context.Context, databaseURL string, never int64) error {
	ctx, cancel := context.WithTimeout(ctx, webhookPatience)
	defer cancel()
	for {
		var left int64
		if err := readRow(ctx, databaseURL, waitingEvents, &left); err != nil || left == never {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d deliveries were not recorded: %w", left-never, ctx.Err())
		case <-time.After(askEvery):
		}
	}
}

// checkDelivered makes sure that each delivery took one attempt.
func checkDelivered(ctx context.Context, databaseURL string) error {
	var events, attempts int64
	err := readRow(ctx, databaseURL, "SELECT (SELECT COUNT(*) FROM events), (SELECT COUNT(*) FROM webhook_attempts)", &events, &attempts)
	if err == nil && events != attempts {
		err = fmt.Errorf("%d events took %d attempts", events, attempts)
	}
	return err
}

// bareTransport is what the bare client sends with: net/http as everybody has it,
// with a connection for each request in flight.
var bareTransport = &http.Transport{MaxIdleConnsPerHost: webhooksInFlight, DisableCompression: true}

// postSigned is one delivery of the bare client.
func (c *caller) postSigned() error {
	defer func() { c.sequence++ }()
	body := []byte(webhookBody)
	mac := hmac.New(sha256.New, []byte(webhookSecret))
	mac.Write(body)
	request, err := http.NewRequest(http.MethodPost, "http://"+inTurn(c, c.job.Paths)+"/hooks", strings.NewReader(webhookBody))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Service-Event", "transaction.created")
	request.Header.Set("X-Service-Event-Id", uuid.NewString())
	request.Header.Set("X-Service-Signature", hex.EncodeToString(mac.Sum(nil)))
	response, err := (&http.Client{Transport: bareTransport, Timeout: answerPatience}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New("answered " + response.Status)
	}
	return nil
}
