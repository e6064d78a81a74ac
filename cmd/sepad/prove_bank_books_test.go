package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the books are read as they lie

	"sepad/internal/sepa"
)

// ending is where a payment ends, with all that hangs on it.
type ending struct {
	transaction, order, subscription string
	chargeback                       string // the bank's code
	events                           []string
}

// endOf says where a payment must end, by what the rules say of its bank's verdict.
func endOf(payer int) ending {
	verdict := plannedVerdict(payer)
	told := []string{"transaction.created:", "transaction.status_changed:pending>approved"}
	e := ending{transaction: "approved", order: "COMPLETED", subscription: "ACTIVE", events: told}
	switch {
	case verdict.Reject != "":
		e = ending{
			transaction: "declined", order: "FAILED", subscription: "CANCELLED",
			events: []string{"transaction.created:", "transaction.status_changed:pending>declined"},
		}
		if sepa.ReasonFor(verdict.Reject).Follows == sepa.FollowsCreditor { // our own mistake, which ends nothing
			e.subscription = "ACTIVE"
		}
	case verdict.GiveBack != "":
		e = ending{
			transaction: "charged_back", order: "CHARGEDBACK", subscription: "CANCELLED", chargeback: verdict.GiveBack,
			events: append(told, "chargeback.created:", "transaction.status_changed:approved>charged_back"),
		}
		switch sepa.ReasonFor(verdict.GiveBack).AfterReturn() {
		case sepa.FollowsRetry:
			e.subscription = "PAST_DUE"
		case sepa.FollowsCreditor:
			e.subscription = "ACTIVE"
		}
	}
	if !isRecurring(payer) {
		e.subscription = ""
	}
	return e
}

// booked is a payment as the books have it.
type booked struct {
	id, merchantID, transaction, order, subscription, chargeback string
	amount                                                       int64
	places                                                       int
}

// expectBooks holds every payment against what its bank said.
func (p *proof) expectBooks(v verdicts, payments int) {
	p.t.Helper()
	db, err := sql.Open("pgx", p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	events := p.events(db)
	rows, err := db.QueryContext(p.t.Context(), `SELECT t.id, t.merchant_transaction_id, t.status, o.status, COALESCE(u.status, ''), COALESCE(c.reason_code, ''),
		t.amount_minor, (SELECT COUNT(*) FROM bank_file_entries e WHERE e.tenant_id = t.tenant_id AND e.transaction_id = t.id)
		FROM transactions t JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
		LEFT JOIN subscriptions u ON u.tenant_id = t.tenant_id AND u.id = t.subscription_id
		LEFT JOIN chargebacks c ON c.tenant_id = t.tenant_id AND c.merchant_transaction_id = t.merchant_transaction_id
		WHERE t.type = 'sdd_sale'`)
	if err != nil {
		p.t.Fatal(err)
	}
	defer rows.Close()
	count, payers := 0, map[int]bool{}
	for ; rows.Next(); count++ {
		var b booked
		if err := rows.Scan(&b.id, &b.merchantID, &b.transaction, &b.order, &b.subscription, &b.chargeback, &b.amount, &b.places); err != nil {
			p.t.Fatal(err)
		}
		payer, isSent := v.on[b.merchantID]
		if !isSent {
			p.t.Errorf("%s is %s and in no file", b.merchantID, b.transaction)
			continue
		}
		if payers[payer] {
			p.t.Errorf("customer %d has paid twice", payer)
		}
		payers[payer] = true
		p.expectEnd(b, endOf(payer), events[b.id])
	}
	if err := rows.Err(); err != nil || count != payments || len(v.on) != payments {
		p.t.Errorf("%d payments are in the books and %d in files, %d were made: %v", count, len(v.on), payments, err)
	}
}

func (p *proof) expectEnd(b booked, want ending, events map[string]int) {
	p.t.Helper()
	if b.transaction != want.transaction || b.order != want.order || b.subscription != want.subscription || b.chargeback != want.chargeback || b.places != 1 {
		p.t.Errorf("%+v, want %+v", b, want)
	}
	for _, event := range want.events {
		if events[event] != 1 {
			p.t.Errorf("%s told %s %d times", b.merchantID, event, events[event])
		}
		delete(events, event)
	}
	for event, times := range events {
		if !strings.HasPrefix(event, "collection.announced:") || times != 1 {
			p.t.Errorf("%s told %s %d times unasked", b.merchantID, event, times)
		}
	}
}

// events counts by transaction what was told: the kind of each event, and what stands behind the transaction in its key.
func (p *proof) events(db *sql.DB) map[string]map[string]int {
	p.t.Helper()
	rows, err := db.QueryContext(p.t.Context(), `SELECT e.event_key, COALESCE(CAST(c.transaction_id AS text), '') FROM events e
		LEFT JOIN chargebacks c ON e.kind = 'chargeback.created' AND e.event_key = 'chargeback.created:' || c.id`)
	if err != nil {
		p.t.Fatal(err)
	}
	defer rows.Close()
	told := map[string]map[string]int{}
	for rows.Next() {
		var key, paid string
		if err := rows.Scan(&key, &paid); err != nil {
			p.t.Fatal(err)
		}
		kind, about, _ := strings.Cut(key, ":")
		id, change, _ := strings.Cut(about, ":")
		if paid != "" {
			id = paid
		}
		if told[id] == nil {
			told[id] = map[string]int{}
		}
		told[id][kind+":"+change]++
	}
	if err := rows.Err(); err != nil {
		p.t.Fatal(err)
	}
	return told
}

func euro(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// cents reads an amount as it is shown.
func (p *proof) cents(text string) int64 {
	p.t.Helper()
	var whole, part int64
	if _, err := fmt.Sscanf(text, "%d.%02d", &whole, &part); err != nil {
		p.t.Fatalf("%q is no amount", text)
	}
	return whole*100 + part
}

// expectSums holds the sums of files and statements, and those of the listing that merchants read, against what the banks
// have moved: to the cent.
func (p *proof) expectSums(v verdicts) {
	p.t.Helper()
	var files []struct{ ID, State string }
	p.show(&files, "bank", "list", "--limit", "1000")
	var collected, credited, returned, debited int64
	for _, file := range files {
		var shown struct {
			Matching struct {
				Agrees              bool
				Collected, Returned string
				Credited, Debited   *string
			}
		}
		p.show(&shown, "bank", "show", file.ID)
		m := shown.Matching
		if file.State != "settled" || !m.Agrees || m.Credited == nil || m.Debited == nil {
			p.t.Errorf("file %s is %s: %+v", file.ID, file.State, m)
			continue
		}
		collected, credited = collected+p.cents(m.Collected), credited+p.cents(*m.Credited)
		returned, debited = returned+p.cents(m.Returned), debited+p.cents(*m.Debited)
	}
	listed := p.listing()
	for what, sums := range map[string][2]int64{
		"files":              {int64(len(files)), int64(v.files)},
		"files collect":      {collected, v.collected},
		"files give back":    {returned, v.back},
		"statements credit":  {credited, v.collected},
		"statements debit":   {debited, v.back},
		"listing collects":   {listed["approved"] + listed["charged_back"], v.collected},
		"listing gives back": {listed["charged_back"], v.back},
		"listing refuses":    {listed["declined"], v.refused},
	} {
		if sums[0] != sums[1] {
			p.t.Errorf("%s: %s, want %s", what, euro(sums[0]), euro(sums[1]))
		}
	}
	var open []any
	if p.show(&open, "bank", "unmatched"); len(open) > 0 {
		p.t.Errorf("%d lines match nothing: %v", len(open), open[0])
	}
}

// show runs a command that prints JSON.
func (p *proof) show(into any, args ...string) {
	p.t.Helper()
	shown := execute(p.t, command(p.t, p.folder, p.settings, append(args, "--json")...))
	mustSucceed(p.t, shown)
	if err := json.Unmarshal([]byte(shown.stdout), into); err != nil {
		p.t.Fatal(err, shown.stderr)
	}
}

// listing adds the payments up that a merchant reads, by status.
func (p *proof) listing() map[string]int64 {
	p.t.Helper()
	sums := map[string]int64{}
	for query := "page_size=1000&start_date=" + time.Now().AddDate(0, 0, -2).Format(time.DateOnly); query != ""; {
		status, body := p.call(http.MethodGet, "/api/v1/reconciliation/transactions/?"+query, "", "")
		if status == 0 && time.Now().Before(p.deadline) {
			continue
		}
		var page struct {
			Next    *string
			Results []struct{ Type, Status, Amount string }
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
			p.t.Fatalf("%d: %v\n%s", status, err, body)
		}
		for _, one := range page.Results {
			if one.Type == "sdd_sale" {
				sums[one.Status] += p.cents(one.Amount)
			}
		}
		query = ""
		if page.Next != nil {
			_, query, _ = strings.Cut(*page.Next, "?")
		}
	}
	return sums
}
