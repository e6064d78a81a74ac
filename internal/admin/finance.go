package admin

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

type sumBody struct {
	Count  int    `json:"count"`
	Amount string `json:"amount"`
}

func sumOf(s listing.Sum) sumBody { return sumBody{s.Count, s.Minor.String()} }

// dayTotalsBody is what a day brought in one currency.
type dayTotalsBody struct {
	Day         string  `json:"day"`
	Currency    string  `json:"currency"`
	Collected   sumBody `json:"collected"`
	Pending     sumBody `json:"pending"`
	Declined    sumBody `json:"declined"`
	Refunded    sumBody `json:"refunded"`
	ChargedBack sumBody `json:"charged_back"`
	Fees        string  `json:"fees"`
	Net         string  `json:"net"`
}

func dayTotalsOf(d listing.DayTotals) dayTotalsBody {
	return dayTotalsBody{
		Day: d.Day.String(), Currency: d.Currency, Collected: sumOf(d.Collected), Pending: sumOf(d.Pending), Declined: sumOf(d.Declined),
		Refunded: sumOf(d.Refunded), ChargedBack: sumOf(d.ChargedBack), Fees: d.FeesMinor.String(), Net: d.NetMinor().String(),
	}
}

const (
	// usualDays is the range of totals where none is given, the day of today included.
	usualDays = 30
	// maxTotalDays bounds what is summed up for one answer.
	maxTotalDays = 366
)

// days reads the range of a report, both days included.
func (a *Admin) days(q question) (first, last payment.Date) {
	first, last = q.date("from"), q.date("to")
	if last.IsZero() {
		last = payment.DateOf(a.Checkout.Clock.Now())
	}
	if first.IsZero() {
		first = last.AddDays(1 - usualDays)
	}
	if last.Start().Before(first.Start()) {
		q.bad.Add("to", "to may not be before from.")
	}
	return first, last
}

func (q question) date(name string) payment.Date {
	text := q.Get(name)
	if text == "" {
		return payment.Date{}
	}
	day, err := payment.ParseDate(text)
	if err != nil {
		q.bad.Add(name, name+" must be a date in the form YYYY-MM-DD.")
	}
	return day
}

// owner reads the tenant that a report is about.
func (q question) owner() uuid.UUID {
	id := q.id("tenant_id")
	if _, isBad := q.bad["tenant_id"]; id == uuid.Nil && !isBad {
		q.bad.Add("tenant_id", "tenant_id is required.")
	}
	return id
}

// listTotals answers GET /totals/: a line for each day and currency, the newest first.
func (a *Admin) listTotals(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	tenantID := q.owner()
	first, last := a.days(q)
	if last.Start().After(first.AddDays(maxTotalDays - 1).Start()) {
		q.bad.Add("to", "to may be at most "+strconv.Itoa(maxTotalDays)+" days after from.")
	}
	if err := q.err(); err != nil {
		return err
	}
	days, err := listing.ReadDayTotals(r.Context(), a.Store.Tenant(tenantID), first, last)
	if err != nil {
		return err
	}
	list := listBody[dayTotalsBody]{Results: make([]dayTotalsBody, len(days))}
	for i, day := range days {
		list.Results[i] = dayTotalsOf(day)
	}
	web.WriteJSON(w, r, http.StatusOK, list)
	return nil
}

// payoutBody is what a bank has booked for a day.
type payoutBody struct {
	StatementID uuid.UUID `json:"statement_id"`
	TenantID    uuid.UUID `json:"tenant_id"`
	GatewayID   uuid.UUID `json:"gateway_id"`
	BookingDate string    `json:"booking_date"`
	Currency    string    `json:"currency"`
	Credited    sumBody   `json:"credited"`
	Debited     sumBody   `json:"debited"`
	Fees        string    `json:"fees"`
	Net         string    `json:"net"`
}

// listPayouts answers GET /payouts/: the statements of banks, the newest first, each
// summed up by the day of booking. A page has so many statements.
func (a *Admin) listPayouts(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.BankStatementSearch{Common: q.common(), GatewayID: q.id("gateway_id")}
	if err := q.err(); err != nil {
		return err
	}
	part, err := listing.SearchBankStatements(r.Context(), a.Store, search, q.page.paging())
	if err != nil {
		return err
	}
	page := pageOf(q.page, part, func(s store.BankStatement) uuid.UUID { return s.ID }, func(s store.BankStatement) store.BankStatement { return s })
	list := listBody[payoutBody]{Next: page.Next, Previous: page.Previous, Results: []payoutBody{}}
	for _, s := range page.Results {
		payouts, err := listing.PayoutsOf(r.Context(), a.Store.Tenant(s.TenantID), s.ID)
		if err != nil {
			return err
		}
		for _, p := range payouts {
			list.Results = append(list.Results, payoutBody{
				StatementID: s.ID, TenantID: s.TenantID, GatewayID: s.GatewayID, BookingDate: p.BookingDate, Currency: p.Currency,
				Credited: sumOf(p.Credited), Debited: sumOf(p.Debited), Fees: p.FeesMinor.String(), Net: p.NetMinor().String(),
			})
		}
	}
	web.WriteJSON(w, r, http.StatusOK, list)
	return nil
}

// exporter writes every record of a range of days.
type exporter func(ctx context.Context, t store.Tenant, first, last payment.Date, f recon.Format, w io.Writer) error

// export answers GET /exports/…/ with every record of a range of days, however many
// there are: read page by page and written as it is read.
func (a *Admin) export(name string, write exporter) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		q := a.ask(r)
		tenantID := q.owner()
		first, last := a.days(q)
		format := cmp.Or(readOneOf(q.parameters, "format", []recon.Format{recon.CSV, recon.JSON, recon.XML}, q.bad), recon.CSV)
		if err := q.err(); err != nil {
			return err
		}
		deed := store.Deed{Action: "list.export", ObjectType: "list", ObjectID: name, TenantID: tenantID, After: map[string]any{
			"format": format, "from": first.String(), "to": last.String(),
		}}
		if err := a.Store.Note(r.Context(), deed); err != nil {
			return err // nobody takes records away unseen
		}
		file := &web.Download{ResponseWriter: w, Request: r, ContentType: recon.ExportType(format), Name: name + "_" + first.String() + "_" + last.String() + "." + recon.ExportEnding(format)}
		err := write(r.Context(), a.Store.Tenant(tenantID), first, last, format, file)
		if err != nil && file.HasBegun {
			return errors.Join(http.ErrAbortHandler, err) // half of it is gone already
		}
		return err
	}
}
