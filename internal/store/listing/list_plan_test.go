package listing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// plannedRows are enough that reading them all is never the better plan. SQLite
// knows nothing of how many there are: its plans follow from the schema alone.
var plannedRows = map[string]int{"postgres": 50_000, "sqlite": 500}

// A plan is right when it reads nothing but an index range and never sorts: then
// a page costs what its rows cost, in ten thousand records as in two million.
func TestPagesAreReadFromAnIndexInOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		l := fillLibrary(t, env)
		for name, statement := range l.statements() {
			for _, w := range l.windows() {
				text, args := statement(w)
				plan := env.Explain(t, text, append([]any{l.tenantID.String()}, args...))
				fault := faultOf(env.Engine, plan)
				if fault == "" && looksForTheRare(name) {
					fault = detourOf(env.Engine, name, plan)
				}
				if fault != "" {
					t.Errorf("%s, backward %v: the plan has %s:\n%s", name, w.Backward, fault, plan)
				}
			}
		}
		expectSearchesAlongIndexes(t, env, l)
		expectWaysAlongIndexes(t, env, l)
		expectSessionsByTheirOwnIndexes(t, env, l)
		expectHistoriesAlongIndexes(t, env, l)
		expectUnknownByTheirOwnIndex(t, env, l)
	})
}

// expectUnknownByTheirOwnIndex: the overview counts them whenever it is looked at, and read everything that the tenant had.
func expectUnknownByTheirOwnIndex(t *testing.T, env *storetest.Env, l library) {
	t.Helper()
	unknown := listing.TransactionSearch{IsUnknown: true}
	text, args := unknown.Statement(listing.Paging{Limit: 50})
	for statement, args := range map[string][]any{listing.UnknownPayments: nil, text: args} {
		plan := env.Explain(t, statement, append([]any{l.tenantID.String()}, args...))
		if !strings.Contains(plan, "transactions_session_id_key") {
			t.Errorf("payments under way are not read by their index:\n%s", plan)
		}
	}
}

// expectHistoriesAlongIndexes: whatever a timeline is put together from is found by an
// index. PostgreSQL may read a table whole that has next to nothing in it.
func expectHistoriesAlongIndexes(t *testing.T, env *storetest.Env, l library) {
	t.Helper()
	explain := func(statement string, value any) {
		t.Helper()
		statement = strings.Replace(statement, "($2)", "($2, $2, $2, $2, $2, $2, $2, $2)", 1) // as many as a batch may have
		plan := env.Explain(t, statement, []any{l.tenantID.String(), value})
		for _, large := range []string{"transactions", "chargebacks", "subscriptions", "sessions"} {
			if strings.Contains(plan, "Seq Scan on "+large) {
				t.Errorf("%s reads all %s:\n%s", statement, large, plan)
			}
		}
		if fault := wayFault(env.Engine, plan); fault != "" {
			t.Errorf("%s reads too much, %s:\n%s", statement, fault, plan)
		}
	}
	for _, statement := range listing.HistoryByID() {
		explain(statement, payment.NewID().String())
	}
	for _, statement := range listing.HistoryByText() {
		explain(statement, "somebody@x.example")
	}
}

// library is three large tables of one tenant, most of whose records are alike:
// what is rare is what makes a plan go wrong.
type library struct {
	tenantID, common, rare uuid.UUID
	rows                   int
}

func fillLibrary(t *testing.T, env *storetest.Env) library {
	t.Helper()
	l := library{tenantID: env.Tenant(t).ID, common: payment.NewID(), rare: payment.NewID(), rows: plannedRows[env.Engine]}
	var sessions []payment.Session
	transactions, chargebacks, subscriptions := []payment.Transaction{}, []payment.Chargeback{}, []payment.Subscription{}
	for i := range l.rows {
		at := listedDay.Start().Add(time.Duration(i) * time.Second)
		tx, cb, sub := fullTransaction(l.tenantID), fullChargeback(l.tenantID), fullSubscription(l.tenantID)
		tx.ProcessedAt, cb.ReportedAt, sub.CreatedAt = at, at, at
		tx.UpdatedAt, cb.UpdatedAt, sub.UpdatedAt = at, at, at
		tx.GatewayID, cb.GatewayID, sub.GatewayID = l.gateway(i), l.gateway(i), l.gateway(i)
		tx.Status, tx.Type, sub.Status = rareStatus(i), rareType(i), rareSubscription(i)
		tx.MerchantTransactionID, cb.MerchantTransactionID = fmt.Sprint("TXN-", i), fmt.Sprint("TXN-", i)
		tx.TenantReferenceID = nil
		sessions = append(sessions, payment.Session{
			ID: payment.NewID(), TenantID: l.tenantID, LeadID: payment.NewID(), Token: fmt.Sprint("ps_", i), Status: rareSession(i),
			CreatedAt: at, ExpiresAt: at.AddDate(0, 0, 1),
		})
		transactions, chargebacks, subscriptions = append(transactions, tx), append(chargebacks, cb), append(subscriptions, sub)
	}
	env.InsertTransactions(t, transactions)
	env.InsertChargebacks(t, chargebacks)
	env.InsertSubscriptions(t, subscriptions)
	env.InsertSessions(t, sessions)
	if env.Engine == "postgres" { // where the server does it by itself sooner or later; SQLite must do without
		for _, table := range []string{"transactions", "chargebacks", "subscriptions"} {
			env.Exec(t, "ANALYZE "+table)
		}
		env.Exec(t, "VACUUM ANALYZE sessions") // the index alone has what the list needs
	}
	return l
}

func (l library) gateway(i int) uuid.UUID {
	if i%500 == 0 {
		return l.rare
	}
	return l.common
}

func rareStatus(i int) payment.TransactionStatus {
	if i%400 < 5 {
		return payment.TransactionStatuses[i%400]
	}
	return payment.TransactionApproved
}

func rareType(i int) payment.TransactionType {
	switch {
	case i%300 == 0:
		return payment.Refund
	case i%300 == 1:
		return payment.Mandate
	case i%2 == 0:
		return payment.Rebill
	default:
		return payment.Sale
	}
}

func rareSubscription(i int) payment.SubscriptionStatus {
	if i%350 < 3 {
		return payment.SubscriptionStatuses[i%350]
	}
	return payment.SubscriptionActive
}

func rareSession(i int) payment.SessionStatus {
	if i%350 < 3 {
		return payment.SessionStatuses[i%350]
	}
	return payment.SessionCompleted
}

// windows are a page in the middle, either way.
func (l library) windows() []listing.Window {
	forward := wholeDay(1000)
	forward.Beyond = &listing.Position{At: listedDay.Start().Add(time.Duration(l.rows/2) * time.Second)}
	backward := forward
	backward.Backward = true
	return []listing.Window{forward, backward}
}

// statements are all queries with none or one value in each filter.
func (l library) statements() map[string]func(listing.Window) (string, []any) {
	all := map[string]func(listing.Window) (string, []any){}
	for name, statement := range map[string]func(listing.Window) (string, []any){
		"transactions": listing.TransactionFilter{}.Statement, "chargebacks": listing.ChargebackFilter{}.Statement,
		"subscriptions": listing.SubscriptionFilter{}.Statement,
	} {
		all[name+" in the order of changes"] = func(w listing.Window) (string, []any) {
			w.ByUpdate = true
			return statement(w)
		}
	}
	for _, gateway := range []*uuid.UUID{nil, &l.rare, &l.common} {
		all[fmt.Sprint("chargebacks ", l.name(gateway))] = listing.ChargebackFilter{GatewayID: gateway}.Statement
		for _, statuses := range [][]payment.TransactionStatus{nil, {payment.TransactionApproved}, {payment.TransactionRefunded}} {
			for _, types := range [][]string{nil, {"sdd_sale"}, {"sdd_refund"}} {
				f := listing.TransactionFilter{Statuses: statuses, Types: types, GatewayID: gateway}
				all[fmt.Sprint("transactions ", statuses, types, l.name(gateway))] = f.Statement
			}
		}
		for _, statuses := range [][]payment.SubscriptionStatus{nil, {payment.SubscriptionActive}, {payment.SubscriptionCancelled}} {
			f := listing.SubscriptionFilter{Statuses: statuses, GatewayID: gateway}
			all[fmt.Sprint("subscriptions ", statuses, l.name(gateway))] = f.Statement
		}
	}
	return all
}

func (l library) name(gateway *uuid.UUID) string {
	switch {
	case gateway == nil:
		return "any gateway"
	case *gateway == l.rare:
		return "a rare gateway"
	default:
		return "the common gateway"
	}
}

// looksForTheRare tells the queries that would have to pass over most records if
// the index were not the filters' own. Passing over those of other gateways than
// the common one costs nothing.
func looksForTheRare(name string) bool {
	isRare := strings.Contains(name, "rare") || strings.Contains(name, "refund") || strings.Contains(name, "CANCELLED")
	return isRare && !strings.Contains(name, "common")
}

// detourOf names what passes over records: a condition beside the index in
// PostgreSQL, and another index in SQLite, which does not tell its conditions.
func detourOf(engine, name, plan string) string {
	if engine == "postgres" {
		if strings.Contains(plan, "Filter:") {
			return "a filter"
		}
		return ""
	}
	for line := range strings.Lines(plan) {
		isOwn := strings.Contains(line, "gateway_idx") || !strings.Contains(name, "rare") && strings.Contains(line, "status_idx")
		if strings.HasPrefix(line, "SEARCH") && !isOwn {
			return "another index"
		}
	}
	return ""
}

// faultOf names what a good plan never does. "Sort Key" belongs to a merge of
// ranges that are sorted already.
func faultOf(engine, plan string) string {
	faults := []string{"Seq Scan", "Sort  (", "Bitmap", "Gather"}
	if engine == "sqlite" {
		faults = []string{"TEMP B-TREE", "SCAN", "transactions_id_key", "autoindex"}
		for line := range strings.Lines(plan) {
			if strings.HasPrefix(line, "SEARCH") && !strings.Contains(line, "(?,?)") {
				return "a range that does not begin at the position"
			}
		}
	}
	for _, fault := range faults {
		if strings.Contains(plan, fault) {
			return fault
		}
	}
	return ""
}

// expectSessionsByTheirOwnIndexes: the list of sessions is read from its index; what
// names a person or a reference reads theirs, and sorts those few. So may PostgreSQL
// do with the few that are still open, which have an index of their own.
func expectSessionsByTheirOwnIndexes(t *testing.T, env *storetest.Env, l library) {
	t.Helper()
	statuses := [][]payment.SessionStatus{nil, {payment.SessionCompleted}, {payment.SessionAwaiting}, {payment.SessionPending}, {payment.SessionExpired}}
	for index, f := range map[string]listing.SessionFilter{
		"sessions_status_idx": {}, "sessions_lead_idx": {EmailKey: "a@x.example"}, "sessions_reference_idx": {TenantReferenceID: "order-9"},
	} {
		for _, f.Statuses = range statuses {
			f.Now = listedDay.Start()
			for _, w := range l.windows() {
				text, args := f.Statement(w)
				plan := env.Explain(t, text, append([]any{l.tenantID.String()}, args...))
				// Where all are wanted, PostgreSQL may rather read so small a table.
				readsAll := f.Statuses == nil && index == "sessions_status_idx" && env.Engine == "postgres"
				if fault := sessionFault(env.Engine, index, plan); fault != "" && !readsAll {
					t.Errorf("sessions %v by %s, backward %v: %s:\n%s", f.Statuses, index, w.Backward, fault, plan)
				}
			}
		}
	}
}

func sessionFault(engine, index, plan string) string {
	isFew := index != "sessions_status_idx"
	switch {
	case engine == "sqlite" && !isFew:
		return faultOf(engine, plan)
	case strings.Contains(plan, "Seq Scan on sessions") || strings.Contains(plan, "Gather") || strings.Contains(plan, "SCAN sessions"):
		return "it reads the whole table"
	case isFew && strings.Contains(plan, "sessions_status_idx") && (engine == "postgres" || index == "sessions_lead_idx"):
		return "it reads other people's" // SQLite may hold a tenant's entries against those of a reference
	case !strings.Contains(plan, index) && !strings.Contains(plan, "sessions_due_idx"):
		return "it does not read its index"
	default:
		return ""
	}
}
