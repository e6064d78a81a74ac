package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/store/listing"
)

// list is a screen that lists records of one kind: what is typed into its search field,
// its filters and the choice of its columns stand in the address.
type list[T any] struct {
	// Name is that of its path, Title its heading.
	Name, Title string
	// Hint is what its search field finds, Empty what to do where there is nothing yet.
	Hint, Empty string
	Columns     []column[T]
	Filters     []filter
	ID          func(*T) uuid.UUID
	// Links lead to what belongs to the list, Action is done to many of its records.
	Links  []option
	Action func(*listQuery) action
	// Search reads the filters and gives the list that they ask for.
	Search func(*listQuery) source[T]
}

// source is a list that was asked for.
type source[T any] struct {
	Read  func(context.Context, listing.Paging) (listing.Part[T], error)
	Count func(context.Context) (listing.Count, error)
}

// column is a field of the records, named as the admin API names it.
type column[T any] struct {
	Name, Label string
	// Optional columns show only when they are chosen.
	Optional bool
	Value    func(*T, names) cell
}

// cell is a value as it is shown, and as it is exported.
type cell struct {
	Text string
	// Href leads to what it names.
	Href string
	// At is set instead where it is an instant.
	At time.Time
	// Brief is shown in the place of a long text.
	Brief string
	// Tone colours a status: good, warn, bad or "".
	Tone     string
	IsNumber bool
}

// IsShort tells a value that stands on one line: an instant, a reference, a word.
func (c cell) IsShort() bool {
	const most = 24
	return !c.At.IsZero() || c.Brief != "" || len(c.Text) <= most && !strings.Contains(c.Text, " ")
}

// filter is a field that narrows a list, named as the admin API names it.
type filter struct {
	Name, Label string
	// Options are what can be chosen; one without them is a day, or text.
	Options func(*listQuery) []option
	IsDay   bool
	// Hidden filters stand in addresses that lead here, and in no form; Rare ones in a form
	// that such an address led to.
	Hidden, Rare bool
}

type option struct{ Value, Label string }

// listQuery is an address being read; every fault is said at once.
type listQuery struct {
	url.Values
	bad payment.Fields
	now time.Time
	// setups are those of the tenants that can be asked for.
	setups []*merchant.Setup
}

func (q *listQuery) common() listing.Common {
	common := listing.Common{
		TenantID: q.id("tenant_id"), Text: q.Get("q"),
		CreatedFrom: readDay("from", q.Get("from"), q.bad), CreatedBefore: readDay("to", q.Get("to"), q.bad),
	}
	if !common.CreatedBefore.IsZero() {
		common.CreatedBefore = common.CreatedBefore.AddDate(0, 0, 1) // the last day belongs to it
	}
	return common
}

func (q *listQuery) id(name string) uuid.UUID { return readUUID(name, q.Get(name), q.bad) }

// chosen reads one of some values.
func chosen[V ~string](q *listQuery, name string, values []V) V {
	value := V(strings.TrimSpace(q.Get(name)))
	if value != "" && !slices.Contains(values, value) {
		q.bad.Add(name, name+" has an unknown value.")
	}
	return value
}

// names tell ids of a set-up as people call them.
type names map[uuid.UUID]string

func namesOf(setups []*merchant.Setup) names {
	all := names{}
	for _, setup := range setups {
		all[setup.Tenant.ID] = setup.Tenant.Name
		for id, record := range setup.Gateways {
			all[id] = record.Name
		}
		for id, record := range setup.Campaigns {
			all[id] = record.Name
		}
		for id, record := range setup.Offers {
			all[id] = record.Name
		}
		for id, record := range setup.WebhookProfiles {
			all[id] = record.Name
		}
	}
	return all
}

// of is a name, or the beginning of an id that has none.
func (n names) of(id uuid.UUID) string {
	if name, known := n[id]; known {
		return name
	}
	return id.String()
}

// setups reads what the tenants that somebody works for have set up.
func (d *Dashboard) setups(ctx context.Context) (all []*merchant.Setup, err error) {
	tenants, err := d.Store.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	for _, tenant := range tenants {
		setup, err := d.Store.CurrentSetup(ctx, tenant.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, setup)
	}
	return all, nil
}

// listView is a page of a list.
type listView struct {
	Name, Title, Hint, Empty, Query string
	Filters                         []filterView
	Columns                         []columnView
	Rows                            []rowView
	Count                           string
	// Older, Newer and Further are addresses, "" for none. Further goes on with a search
	// that has stopped before it found enough.
	Older, Newer, Further string
	// CSV and JSON are where all of it can be had, "" for who may not.
	CSV, JSON string
	// IsNarrowed tells that something is asked for, Reset is where all of it is.
	IsNarrowed bool
	// Kept are parameters that forms carry on.
	Kept    []option
	Links   []option
	Actions []action
}

type filterView struct {
	Name, Label, Value string
	IsDay              bool
	Options            []option
}

type columnView struct {
	Name, Label     string
	Shown, IsNumber bool
}

type rowView struct {
	Cells []cellView
}

type cellView struct {
	cell
	Label string
}

// show answers with a list as a page, or as a file.
func show[T any](d *Dashboard, l list[T]) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		setups, err := d.setups(r.Context())
		if err != nil {
			return err
		}
		q := &listQuery{Values: r.URL.Query(), bad: payment.Fields{}, now: d.Checkout.Clock.Now(), setups: setups}
		from, paging := l.Search(q), readPaging(q.Values, q.bad)
		format := chosen(q, "format", exportFormats)
		if err := q.bad.Err(); err != nil {
			return err
		}
		if format != "" {
			return export(d, w, r, l, q, from, format)
		}
		shown, err := l.view(r.Context(), q, from, paging)
		if err != nil {
			return err
		}
		if who, _ := people.Who(r.Context()); exportRight().Admits(who) {
			shown.CSV, shown.JSON = address(q.Values, "format", "csv"), address(q.Values, "format", "json")
		}
		shown.Links = slices.DeleteFunc(slices.Clone(l.Links), func(link option) bool {
			path, _, _ := strings.Cut(link.Value, "?")
			return !may(r, http.MethodGet, path)
		})
		if l.Action != nil && mayDo(r, l.Action(q).Path) {
			shown.Actions = []action{l.Action(q)}
		}
		return d.page(w, r, "list", l.Title, shown)
	}
}

// address is the same one with another value for a parameter; the place in the list
// goes.
func address(query url.Values, name, value string) string {
	next := url.Values{}
	for filter, values := range query {
		if filter != "before" && filter != "after" && filter != "done" && values[0] != "" {
			next[filter] = values
		}
	}
	next.Set(name, value)
	return "?" + next.Encode()
}

func (l list[T]) view(ctx context.Context, q *listQuery, from source[T], paging listing.Paging) (*listView, error) {
	part, err := from.Read(ctx, paging)
	if err != nil {
		return nil, err
	}
	count, err := from.Count(ctx)
	if err != nil {
		return nil, err
	}
	shown := &listView{Name: l.Name, Title: l.Title, Hint: l.Hint, Empty: l.Empty, Query: q.Get("q"), Count: countText(count)}
	shown.Filters, shown.Kept, shown.IsNarrowed = l.filters(q)
	columns := l.shownColumns(q)
	for _, c := range l.Columns {
		isShown := slices.ContainsFunc(columns, func(other column[T]) bool { return other.Name == c.Name })
		isNumber := len(part.Rows) > 0 && c.Value(&part.Rows[0], nil).IsNumber
		shown.Columns = append(shown.Columns, columnView{c.Name, c.Label, isShown, isNumber})
	}
	rows, older, newer := pagesOf(part.Rows, paging, q.Values, func(row T) uuid.UUID { return l.ID(&row) })
	shown.Older, shown.Newer = older, newer
	if part.Reached != uuid.Nil {
		shown.Further = address(q.Values, direction(paging), part.Reached.String())
	}
	named := namesOf(q.setups)
	for i := range rows {
		var row rowView
		for _, c := range columns {
			row.Cells = append(row.Cells, cellView{c.Value(&rows[i], named), c.Label})
		}
		shown.Rows = append(shown.Rows, row)
	}
	return shown, nil
}

// direction is the parameter that goes on the same way.
func direction(paging listing.Paging) string {
	if paging.Back {
		return "after"
	}
	return "before"
}

func countText(c listing.Count) string {
	text := strconv.Itoa(c.N)
	switch {
	case c.AtLeast && c.N == 0:
		return "Not counted: none among the newest"
	case c.AtLeast:
		return "More than " + text
	default:
		return text
	}
}

// shownColumns are those that were chosen, or the usual ones.
func (l list[T]) shownColumns(q *listQuery) (columns []column[T]) {
	names := strings.FieldsFunc(strings.Join(q.Values["columns"], ","), func(r rune) bool { return r == ',' })
	for _, c := range l.Columns {
		if len(names) == 0 && !c.Optional || slices.Contains(names, c.Name) {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		return l.Columns[:1]
	}
	return columns
}

// filters are the form's fields with what is asked for, and what the form carries on.
func (l list[T]) filters(q *listQuery) (shown []filterView, kept []option, isNarrowed bool) {
	isNarrowed = q.Get("q") != ""
	for _, f := range l.Filters {
		value := q.Get(f.Name)
		isNarrowed = isNarrowed || value != ""
		if f.Hidden {
			if value != "" {
				kept = append(kept, option{f.Name, value})
			}
			continue
		}
		view := filterView{Name: f.Name, Label: f.Label, Value: value, IsDay: f.IsDay}
		if f.Options != nil {
			view.Options = f.Options(q)
			if (f.Rare || len(view.Options) < 2) && value == "" {
				continue // there is nothing to choose
			}
		}
		shown = append(shown, view)
	}
	for _, name := range q.Values["columns"] {
		kept = append(kept, option{"columns", name})
	}
	return shown, kept, isNarrowed
}

// values makes options of a list of values.
func values[V ~string](all []V) func(*listQuery) []option {
	var options []option
	for _, value := range all {
		options = append(options, option{string(value), string(value)})
	}
	return func(*listQuery) []option { return options }
}

// records makes options of what tenants have set up.
func records[T any](of func(*merchant.Setup) map[uuid.UUID]T, name func(T) string) func(*listQuery) []option {
	return func(q *listQuery) (options []option) {
		for _, setup := range q.setups {
			if chosen := q.Get("tenant_id"); chosen != "" && chosen != setup.Tenant.ID.String() {
				continue
			}
			for id, record := range of(setup) {
				label := name(record)
				if len(q.setups) > 1 {
					label += " (" + setup.Tenant.Name + ")"
				}
				options = append(options, option{id.String(), label})
			}
		}
		slices.SortFunc(options, func(a, b option) int { return strings.Compare(a.Label+a.Value, b.Label+b.Value) })
		return options
	}
}

// The filters that lists have in common.
var (
	tenantFilter = filter{Name: "tenant_id", Label: "Tenant", Options: func(q *listQuery) (options []option) {
		for _, setup := range q.setups {
			options = append(options, option{setup.Tenant.ID.String(), setup.Tenant.Name})
		}
		return options
	}}
	gatewayFilter = filter{Name: "payment_gateway_id", Label: "Gateway", Options: records(
		func(s *merchant.Setup) map[uuid.UUID]merchant.GatewayAccount { return s.Gateways }, func(g merchant.GatewayAccount) string { return g.Name })}
	fromFilter = filter{Name: "from", Label: "From", IsDay: true}
	toFilter   = filter{Name: "to", Label: "To", IsDay: true}
)
