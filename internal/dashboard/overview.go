package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store/listing"
)

// overviewView is how business goes: what a period brought, by day and by gateway or
// campaign, and what waits for somebody. Every number leads to its list.
type overviewView struct {
	Filters    overviewFilters
	Tenants    []option
	Periods    []option
	First      payment.Date
	Last       payment.Date
	Currencies []currencyView
	Declines   []reasonView
	Returns    []reasonView
	Questions  []questionView
	// Chart is what the chart draws, as JSON, and Days the same as a table.
	Chart string
	Days  []dayView
	// IsCounting tells that what is older is still being counted.
	IsCounting bool
	IsEmpty    bool
}

// overviewFilters stand in the address.
type overviewFilters struct{ TenantID, From, To, By string }

// currencyView is what the period brought in one currency.
type currencyView struct {
	Currency string
	Numbers  []numberView
}

// numberView is a number that leads to its list.
type numberView struct{ Label, Value, Note, Href, Tone string }

type reasonView struct {
	Reason, Amount, Href string
	Count                int
	// Share is of the largest, for a bar.
	Share int
}

type questionView struct {
	Label, Value, Href string
	IsOpen             bool
}

type dayView struct {
	Day, Href, Currency, Collected, Declined, ChargedBack string
}

// usualDays is the period where none is given.
const usualDays = 30

// mostDays bounds a period.
const mostDays = 366

// showOverview answers GET /dashboard/.
func (d *Dashboard) showOverview(w http.ResponseWriter, r *http.Request) error {
	setups, err := d.setups(r.Context())
	if err != nil {
		return err
	}
	q := &listQuery{Values: r.URL.Query(), bad: payment.Fields{}, now: d.Checkout.Clock.Now(), setups: setups}
	shown := overviewView{Filters: overviewFilters{q.Get("tenant_id"), q.Get("from"), q.Get("to"), cmp.Or(q.Get("by"), "gateway")}, Tenants: tenantFilter.Options(q)}
	shown.First, shown.Last = q.period()
	tenantID := q.id("tenant_id")
	chosen(q, "by", []string{"gateway", "campaign"})
	if err := q.bad.Err(); err != nil {
		return err
	}
	counts, questions, err := d.count(r.Context(), setups, tenantID, &shown)
	if err != nil {
		return err
	}
	shown.sumUp(counts, namesOf(setups))
	if err := d.ask(r.Context(), &shown, questions, tenantID); err != nil {
		return err
	}
	shown.IsEmpty = len(counts) == 0
	for _, days := range []int{7, 30, 90} {
		from := payment.DateOf(q.now).AddDays(1 - days)
		shown.Periods = append(shown.Periods, option{shown.address(url.Values{"from": {from.String()}, "to": {payment.DateOf(q.now).String()}}), strconv.Itoa(days) + " days"})
	}
	return d.page(w, r, "overview", "Overview", shown)
}

// period reads the days that are asked for, both included.
func (q *listQuery) period() (first, last payment.Date) {
	last = payment.DateOf(q.now)
	if to := readDay("to", q.Get("to"), q.bad); !to.IsZero() {
		last = payment.DateOf(to)
	}
	first = last.AddDays(1 - usualDays)
	if from := readDay("from", q.Get("from"), q.bad); !from.IsZero() {
		first = payment.DateOf(from)
	}
	if last.Start().Before(first.Start()) || last.Start().After(first.AddDays(mostDays-1).Start()) {
		q.bad.Add("to", "A period has from 1 to "+strconv.Itoa(mostDays)+" days.")
	}
	return first, last
}

// count reads what the period brought to the tenants that are asked for.
func (d *Dashboard) count(ctx context.Context, setups []*merchant.Setup, tenantID uuid.UUID, shown *overviewView) (counts []listing.DayCount, all listing.Questions, err error) {
	for _, setup := range setups {
		if tenantID != uuid.Nil && tenantID != setup.Tenant.ID {
			continue
		}
		tenant := d.Store.Tenant(setup.Tenant.ID)
		of, err := listing.DayCounts(ctx, tenant, shown.First, shown.Last)
		if err != nil {
			return nil, all, err
		}
		counts = append(counts, of...)
		questions, err := listing.ReadQuestions(ctx, tenant, d.Checkout.Clock.Now().UnixMicro())
		if err != nil {
			return nil, all, err
		}
		all = listing.Questions{
			Unknown: all.Unknown.Plus(questions.Unknown), Unmatched: all.Unmatched.Plus(questions.Unmatched), Failed: all.Failed.Plus(questions.Failed),
			Waiting: all.Waiting.Plus(questions.Waiting), Due: all.Due.Plus(questions.Due), PastDue: all.PastDue.Plus(questions.PastDue),
		}
		shown.IsCounting = shown.IsCounting || questions.Older
	}
	return counts, all, nil
}

// address is this screen's with some parameters changed.
func (v *overviewView) address(change url.Values) string {
	next := url.Values{}
	for name, value := range map[string]string{"tenant_id": v.Filters.TenantID, "from": v.Filters.From, "to": v.Filters.To, "by": v.Filters.By} {
		if value != "" {
			next.Set(name, value)
		}
	}
	for name, values := range change {
		next[name] = values
	}
	return "?" + next.Encode()
}

// list is the address of the list of what was counted in the period.
func (v *overviewView) list(name string, more ...string) string {
	query := url.Values{"from": {v.First.String()}, "to": {v.Last.String()}}
	if name == "transactions" {
		query.Set("date_field", processedField)
	}
	if v.Filters.TenantID != "" {
		query.Set("tenant_id", v.Filters.TenantID)
	}
	for i := 0; i+1 < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return "/dashboard/" + name + "/?" + query.Encode()
}

// day is the address of the payments that were counted on a day.
func (v *overviewView) day(day payment.Date) string {
	of := overviewView{Filters: v.Filters, First: day, Last: day}
	return of.list("transactions")
}

// sumUp makes numbers, reasons and the chart of what was counted.
func (v *overviewView) sumUp(counts []listing.DayCount, n names) {
	totals := map[string]map[listing.DayKind]listing.Sum{} // by currency
	declines, returns := map[string]listing.Sum{}, map[string]listing.Sum{}
	for _, c := range counts {
		if totals[c.Currency] == nil {
			totals[c.Currency] = map[listing.DayKind]listing.Sum{}
		}
		totals[c.Currency][c.Kind] = plus(totals[c.Currency][c.Kind], c.Sum)
		switch c.Kind {
		case listing.DayDeclined:
			declines[c.Reason] = plus(declines[c.Reason], c.Sum)
		case listing.DayChargedBack:
			returns[c.Reason] = plus(returns[c.Reason], c.Sum)
		}
	}
	for _, currency := range sortedKeys(totals) {
		v.Currencies = append(v.Currencies, currencyView{currency, v.numbers(totals[currency], currency)})
	}
	v.Declines = v.reasons(declines, func(code string) string {
		return v.list("transactions", "counted", string(listing.DayDeclined), "decline_code", cmp.Or(code, listing.Unsaid))
	})
	v.Returns = v.reasons(returns, func(code string) string { return v.list("chargebacks", "reason_code", cmp.Or(code, listing.Unsaid)) })
	v.draw(counts, n)
}

func plus(a, b listing.Sum) listing.Sum {
	return listing.Sum{Count: a.Count + b.Count, Minor: a.Minor + b.Minor}
}

func sortedKeys[V any](of map[string]V) (keys []string) {
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// numbers are those of one currency.
func (v *overviewView) numbers(sums map[listing.DayKind]listing.Sum, currency string) []numberView {
	collected, pending, declined := sums[listing.DayCollected], sums[listing.DayPending], sums[listing.DayDeclined]
	refunded, back := sums[listing.DayRefunded], sums[listing.DayChargedBack]
	href := func(kind listing.DayKind) string {
		return v.list("transactions", "counted", string(kind), "currency", currency)
	}
	taken := collected.Count + pending.Count
	rate, returned := "none", "none"
	if all := taken + declined.Count; all > 0 {
		rate = percent(taken, all)
	}
	if collected.Count > 0 {
		returned = percent(back.Count, collected.Count)
	}
	return []numberView{
		{"Collected", amount(collected.Minor) + " " + currency, payments(collected.Count), href(listing.DayCollected), ""},
		{"Pending", amount(pending.Minor) + " " + currency, payments(pending.Count), href(listing.DayPending), ""},
		{"Approval rate", rate, strconv.Itoa(declined.Count) + " declined", href(listing.DayDeclined), ""},
		{"Refunded", amount(refunded.Minor) + " " + currency, payments(refunded.Count), href(listing.DayRefunded), ""},
		{"Chargebacks, returns", amount(back.Minor) + " " + currency, strconv.Itoa(back.Count) + ", " + returned + " of what was collected", v.list("chargebacks", "currency", currency), ""},
	}
}

func payments(n int) string {
	if n == 1 {
		return "1 payment"
	}
	return strconv.Itoa(n) + " payments"
}

// amount writes a sum with a thin space between thousands.
func amount(m payment.Minor) string {
	text, sign := m.String(), ""
	if strings.HasPrefix(text, "-") {
		text, sign = text[1:], "−"
	}
	const three = 3
	whole, decimals, _ := strings.Cut(text, ".")
	var grouped []string
	for len(whole) > three {
		grouped = append([]string{whole[len(whole)-three:]}, grouped...)
		whole = whole[:len(whole)-three]
	}
	return sign + strings.Join(append([]string{whole}, grouped...), " ") + "." + decimals
}

func percent(part, of int) string {
	const hundred, ten = 100, 10
	tenths := (part*hundred*ten*2 + of) / (of * 2)
	return strconv.Itoa(tenths/ten) + "." + strconv.Itoa(tenths%ten) + " %"
}

// reasons are the most frequent ones, with bars.
func (v *overviewView) reasons(sums map[string]listing.Sum, href func(string) string) (all []reasonView) {
	const most, hundred = 8, 100
	for reason, sum := range sums {
		all = append(all, reasonView{Reason: cmp.Or(reason, "not said"), Amount: amount(sum.Minor), Count: sum.Count, Href: href(reason)})
	}
	slices.SortFunc(all, func(a, b reasonView) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Reason, b.Reason)) })
	all = all[:min(len(all), most)]
	for i := range all {
		all[i].Share = max(1, all[i].Count*hundred/max(1, all[0].Count))
	}
	return all
}

// chart is what the script draws: days on one axis, what was collected on the other, a
// line for each gateway or campaign.
type chart struct {
	Currency string      `json:"currency"`
	Days     []int64     `json:"days"` // seconds since 1970
	Names    []string    `json:"names"`
	Series   [][]float64 `json:"series"`
}

// draw makes the chart of the currency that has most, and the table beside it.
func (v *overviewView) draw(counts []listing.DayCount, n names) {
	if len(v.Currencies) == 0 {
		return
	}
	drawn, byDay := chart{Currency: v.Currencies[0].Currency}, map[string]map[listing.DayKind]listing.Sum{}
	series := map[string]map[string]payment.Minor{}
	for _, c := range counts {
		if c.Currency != drawn.Currency {
			continue
		}
		day := c.Day.String()
		if byDay[day] == nil {
			byDay[day] = map[listing.DayKind]listing.Sum{}
		}
		byDay[day][c.Kind] = plus(byDay[day][c.Kind], c.Sum)
		if c.Kind == listing.DayCollected {
			name := v.seriesOf(c, n)
			if series[name] == nil {
				series[name] = map[string]payment.Minor{}
			}
			series[name][day] += c.Minor
		}
	}
	drawn.Names = sortedKeys(series)
	drawn.Series = make([][]float64, len(drawn.Names))
	const hundred = 100
	for day := v.First; !day.Start().After(v.Last.Start()); day = day.AddDays(1) {
		drawn.Days = append(drawn.Days, day.Start().Unix())
		for i, name := range drawn.Names {
			drawn.Series[i] = append(drawn.Series[i], float64(series[name][day.String()])/hundred)
		}
		if sums := byDay[day.String()]; sums != nil {
			v.Days = append(v.Days, dayView{
				day.String(), v.day(day), drawn.Currency, amount(sums[listing.DayCollected].Minor), strconv.Itoa(sums[listing.DayDeclined].Count),
				amount(sums[listing.DayChargedBack].Minor),
			})
		}
	}
	slices.Reverse(v.Days)
	text, err := json.Marshal(drawn)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	v.Chart = string(text)
}

// seriesOf is the line that something belongs to.
func (v *overviewView) seriesOf(c listing.DayCount, n names) string {
	switch {
	case v.Filters.By != "campaign":
		return n.of(c.GatewayID)
	case c.CampaignID == uuid.Nil:
		return "no campaign"
	default:
		return n.of(c.CampaignID)
	}
}

// ask puts what waits for somebody beside the numbers.
func (d *Dashboard) ask(ctx context.Context, v *overviewView, q listing.Questions, tenantID uuid.UUID) error {
	pauses, err := d.Store.RebillPauses(ctx)
	if err != nil {
		return err
	}
	pauses = slices.DeleteFunc(pauses, func(p payment.RebillPause) bool { return tenantID != uuid.Nil && p.TenantID != tenantID })
	tenant := ""
	if tenantID != uuid.Nil {
		tenant = "&tenant_id=" + tenantID.String()
	}
	const subscriptions, events = "/dashboard/subscriptions/", "/dashboard/events/"
	for _, one := range []struct {
		label string
		count listing.Count
		href  string
		isBad bool
	}{
		{"Unknown outcomes", q.Unknown, "/dashboard/transactions/?outcome=unknown" + tenant, true},
		{"Unmatched bank lines", q.Unmatched, bankLinesPath + "?matched=false" + tenant, true},
		{"Paused accounts", listing.Count{N: len(pauses)}, pausedPath + "?" + strings.TrimPrefix(tenant, "&"), true},
		{"Failed events", q.Failed, events + "?status=failed" + tenant, true},
		{"Events to be tried again", q.Waiting, events + "?waiting=true" + tenant, false},
		{"Rebills due now", q.Due, subscriptions + "?due=now" + tenant, false},
		{"Subscriptions past due", q.PastDue, subscriptions + "?status=PAST_DUE" + tenant, false},
	} {
		value := strconv.Itoa(one.count.N)
		if one.count.AtLeast {
			value = "over " + value
		}
		v.Questions = append(v.Questions, questionView{one.label, value, one.href, one.isBad && one.count.N > 0})
	}
	return nil
}
