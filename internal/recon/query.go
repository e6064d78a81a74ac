package recon

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/vault"
)

const (
	maxDays         = 90
	defaultPageSize = 100
	maxPageSize     = 1000
)

// Parameters of the three endpoints.
const (
	paramStart       = "start_date"
	paramEnd         = "end_date"
	paramStatus      = "status"
	paramType        = "type"
	paramGateway     = "payment_gateway_id"
	paramFormat      = "format"
	paramPageSize    = "page_size"
	paramCursor      = "cursor"
	paramBillingFrom = "next_billing_date_from"
	paramBillingTo   = "next_billing_date_to"
	paramDateField   = "date_field"
)

// byUpdate is the date field that tells when a record last changed.
const byUpdate = "updated_at"

// Parameters of a merchant's list of sessions.
const (
	paramCreatedFrom = "created_from"
	paramCreatedTo   = "created_to"
	paramEmail       = "email"
	paramReference   = "tenant_reference_id"
)

// Format is how a page is written.
type Format string

const (
	JSON Format = "json"
	XML  Format = "xml"
	CSV  Format = "csv"
)

var formats = []string{string(JSON), string(XML), string(CSV)}

// Filters are what narrows a listing beyond its days; what is empty admits all.
type Filters struct {
	sepa.Masked
	Statuses, Types                []string
	GatewayID                      *uuid.UUID
	NextBillingFrom, NextBillingTo payment.Date
	EmailKey, TenantReferenceID    string
	// Now is when it is asked: the time of a session may have run out since it changed.
	Now time.Time
}

// Query is a request that has been understood.
type Query struct {
	TenantID uuid.UUID
	// Start and End are both included.
	Start, End payment.Date
	Filters    Filters
	// ByUpdate takes the days as those on which records last changed, and lists them in
	// that order.
	ByUpdate bool
	Format   Format
	PageSize int

	listing    string
	cursor     *cursor
	parameters url.Values
}

// errQueryText is the answer for a query string that cannot be taken apart, where
// guessing would drop a filter.
var errQueryText = &payment.Error{Kind: payment.Invalid, Detail: "The query string is malformed."}

// Parse understands the query string of a tenant's request, or says all that is
// wrong with it. A parameter that is given blank counts as not given; one that
// the endpoint does not know is passed over, and kept in the addresses of pages.
func (l *Listing[T]) Parse(rawQuery string, tenantID uuid.UUID, v *vault.Vault) (*Query, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, errQueryText
	}
	r := reader{values: values, bad: payment.Fields{}}
	q := &Query{TenantID: tenantID, listing: l.Name, parameters: values}
	l.parameters(r, q)
	q.PageSize = r.pageSize()
	cursorText := r.one(paramCursor)
	if cursorText != "" && !looksLikeCursor(cursorText) {
		r.bad.Add(paramCursor, badCursor)
	}
	if err := r.bad.Err(); err != nil || cursorText == "" {
		return q, err
	}
	opened, err := openCursor(v, q, cursorText)
	if err != nil {
		return nil, payment.Fields{paramCursor: badCursor}.Err()
	}
	q.cursor = &opened
	return q, nil
}

// readExport reads what the three endpoints of reconciliation have in common.
func readExport(r reader, q *Query, usualField string, statuses, types []string) {
	q.Start, q.End = r.days(paramStart, paramEnd)
	q.ByUpdate = r.dateField(usualField)
	q.Filters = Filters{Statuses: r.list(paramStatus, statuses), GatewayID: r.uuid(paramGateway)}
	if types != nil {
		q.Filters.Types = r.list(paramType, types)
	}
	q.Format = r.format()
}

const badCursor = "cursor is not one that this query was given. Follow next and previous as they are."

// purpose is what a cursor of this query is bound to: tenant, endpoint, days and
// filters. Format and page size may change on the way.
func (q *Query) purpose() vault.Binding {
	f := q.Filters
	gateway := ""
	if f.GatewayID != nil {
		gateway = f.GatewayID.String()
	}
	parts := []string{
		"cursor", q.listing, q.Start.String(), q.End.String(), strings.Join(f.Statuses, ","), strings.Join(f.Types, ","),
		gateway, f.NextBillingFrom.String(), f.NextBillingTo.String(),
	}
	if f.EmailKey != "" || f.TenantReferenceID != "" {
		parts = append(parts, strconv.Quote(f.EmailKey), strconv.Quote(f.TenantReferenceID))
	}
	if q.ByUpdate {
		parts = append(parts, byUpdate)
	}
	return vault.Handed(q.TenantID, strings.Join(parts, "|"))
}

// reader reads parameters and collects one sentence for each that is bad.
type reader struct {
	values url.Values
	bad    payment.Fields
}

func (r reader) say(name, sentence string) { r.bad.Add(name, name+" "+sentence) }

// one gives a parameter without the white space around it. Which of two values
// was meant cannot be known.
func (r reader) one(name string) string {
	given := r.values[name]
	if len(given) > 1 {
		r.say(name, "may be given once only.")
		return ""
	}
	return strings.TrimSpace(r.values.Get(name))
}

func (r reader) date(name string) payment.Date {
	text := r.one(name)
	if text == "" {
		return payment.Date{}
	}
	date, err := payment.ParseDate(text)
	if err != nil || date.IsZero() {
		r.say(name, "must be a date in the form YYYY-MM-DD.")
		return payment.Date{}
	}
	return date
}

// days reads the range, of which the last day may be left out.
func (r reader) days(first, last string) (start, end payment.Date) {
	start, end = r.date(first), r.date(last)
	_, isBad := r.bad[first]
	switch latest := start.AddDays(maxDays); {
	case isBad:
	case start.IsZero():
		r.say(first, "is required.")
	case end.IsZero():
		return start, latest
	case end.Start().Before(start.Start()):
		r.say(last, "may not be before "+first+".")
	case end.Start().After(latest.Start()):
		r.say(last, "may be at most "+strconv.Itoa(maxDays)+" days after "+first+".")
	}
	return start, end
}

// between reads two days of which either may be left out.
func (r reader) between(first, last string) (from, to payment.Date) {
	from, to = r.date(first), r.date(last)
	if !from.IsZero() && !to.IsZero() && to.Start().Before(from.Start()) {
		r.say(last, "may not be before "+first+".")
	}
	return from, to
}

// text reads what is compared as a whole.
func (r reader) text(name string, longest int) string {
	text := r.one(name)
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || utf8.RuneCountInString(text) > longest {
		r.say(name, "must be text of at most "+strconv.Itoa(longest)+" characters, without control characters.")
	}
	return text
}

// list reads values separated by commas, each once and in order, so that the
// same filter is the same however it is written.
func (r reader) list(name string, known []string) (chosen []string) {
	text := r.one(name)
	if text == "" {
		return nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if !slices.Contains(known, entry) {
			r.say(name, "must be one or several of "+strings.Join(known, ", ")+", separated by commas.")
			return nil
		}
		chosen = append(chosen, entry)
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

func (r reader) uuid(name string) *uuid.UUID {
	const usualForm = 36
	text := r.one(name)
	if text == "" {
		return nil
	}
	id, err := uuid.Parse(text)
	if err != nil || len(text) != usualForm {
		r.say(name, "must be a UUID.")
		return nil
	}
	return &id
}

// dateField reads which field the days are of: the endpoint's usual one, or that of the
// last change.
func (r reader) dateField(usual string) (isByUpdate bool) {
	switch text := r.one(paramDateField); text {
	case "", usual:
		return false
	case byUpdate:
		return true
	default:
		r.say(paramDateField, "must be "+usual+" or "+byUpdate+".")
		return false
	}
}

func (r reader) format() Format {
	text := r.one(paramFormat)
	if text == "" {
		return JSON
	}
	if !slices.Contains(formats, text) {
		r.say(paramFormat, "must be one of "+strings.Join(formats, ", ")+".")
	}
	return Format(text)
}

func (r reader) pageSize() int {
	text := r.one(paramPageSize)
	if text == "" {
		return defaultPageSize
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < 1 || size > maxPageSize {
		r.say(paramPageSize, "must be a whole number from 1 to "+strconv.Itoa(maxPageSize)+".")
	}
	return size
}
