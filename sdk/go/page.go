package sepad

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// page is a part of a list.
type page[T any] struct {
	Next    *string `json:"next"`
	Results []T     `json:"results"`
}

// walk goes through a list page by page. It ends with the first error, or when the
// loop does.
func walk[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next := path + "?" + query.Encode(); next != ""; {
			var p page[T]
			if err := c.get(ctx, next, &p); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, record := range p.Results {
				if !yield(record, nil) {
					return
				}
			}
			next = ""
			if p.Next != nil {
				next = *p.Next
			}
		}
	}
}

// SessionFilter says which sessions are listed; what is empty admits all.
type SessionFilter struct {
	TenantReferenceID      string
	Email                  string
	Statuses               []string
	CreatedFrom, CreatedTo time.Time
	PageSize               int
}

// ListedSession is a session in a list.
type ListedSession struct {
	ID                string            `json:"id"`
	SessionToken      string            `json:"session_token"`
	PaymentURL        string            `json:"payment_url"`
	Status            string            `json:"status"`
	PaymentInFlight   bool              `json:"payment_in_flight"`
	Amount            string            `json:"amount"`
	Currency          string            `json:"currency"`
	TenantReferenceID string            `json:"tenant_reference_id"`
	Metadata          map[string]string `json:"metadata"`
	Order             *Order            `json:"order"`
	CreatedAt         time.Time         `json:"created_at"`
	ExpiresAt         time.Time         `json:"expires_at"`
}

// Sessions finds sessions again, newest first.
func (c *Client) Sessions(ctx context.Context, f SessionFilter) iter.Seq2[ListedSession, error] {
	query := url.Values{}
	set(query, "tenant_reference_id", f.TenantReferenceID)
	set(query, "email", f.Email)
	set(query, "status", strings.Join(f.Statuses, ","))
	setDay(query, "created_from", f.CreatedFrom)
	setDay(query, "created_to", f.CreatedTo)
	setSize(query, f.PageSize)
	return walk[ListedSession](ctx, c, sessions, query)
}

// Days are what a list of reconciliation is about. To is 90 days after From at most,
// and can be left out.
type Days struct {
	From, To time.Time
	// ByUpdate takes the days as those on which records last changed.
	ByUpdate bool
	Statuses []string
	Types    []string
	PageSize int
}

func (d Days) query() url.Values {
	query := url.Values{}
	setDay(query, "start_date", d.From)
	setDay(query, "end_date", d.To)
	set(query, "status", strings.Join(d.Statuses, ","))
	set(query, "type", strings.Join(d.Types, ","))
	if d.ByUpdate {
		query.Set("date_field", "updated_at")
	}
	setSize(query, d.PageSize)
	return query
}

// Transactions lists transactions, newest first.
func (c *Client) Transactions(ctx context.Context, d Days) iter.Seq2[Transaction, error] {
	return walk[Transaction](ctx, c, "/api/v1/reconciliation/transactions/", d.query())
}

// Chargebacks lists chargebacks, newest first.
func (c *Client) Chargebacks(ctx context.Context, d Days) iter.Seq2[Chargeback, error] {
	return walk[Chargeback](ctx, c, "/api/v1/reconciliation/chargebacks/", d.query())
}

// Subscriptions lists subscriptions, newest first.
func (c *Client) Subscriptions(ctx context.Context, d Days) iter.Seq2[Subscription, error] {
	return walk[Subscription](ctx, c, "/api/v1/reconciliation/subscriptions/", d.query())
}

func set(query url.Values, name, text string) {
	if text != "" {
		query.Set(name, text)
	}
}

func setDay(query url.Values, name string, day time.Time) {
	if !day.IsZero() {
		query.Set(name, day.UTC().Format(time.DateOnly))
	}
}

func setSize(query url.Values, size int) {
	if size > 0 {
		query.Set("page_size", strconv.Itoa(size))
	}
}
