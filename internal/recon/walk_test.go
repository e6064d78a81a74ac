package recon_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/store/storetest"
)

// walkedRecords is how many records the walk passes; SEPAD_TEST_WALK asks for
// another number, such as 100000.
func walkedRecords(t *testing.T) int {
	t.Helper()
	const usual = 5000
	text := os.Getenv("SEPAD_TEST_WALK")
	if text == "" {
		return usual
	}
	count, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SEPAD_TEST_WALK: %v", err)
	}
	return count
}

var walkedDay = payment.DateOf(storetest.Start)

// books is a tenant whose records are added to and changed while they are read.
type books struct {
	env       *storetest.Env
	tenantID  uuid.UUID
	gatewayID uuid.UUID
	spread    int // seconds over which the records lie
	random    *rand.Rand
}

func openBooks(t testing.TB, env *storetest.Env, spread int) *books {
	t.Helper()
	return &books{env: env, tenantID: env.Tenant(t).ID, gatewayID: payment.NewID(), spread: spread, random: rand.New(rand.NewPCG(3, 4))}
}

// add writes records at instants all over the day, many of them the same.
func (b *books) add(t testing.TB, count int) (ids []uuid.UUID) {
	t.Helper()
	rows := make([]payment.Transaction, count)
	for i := range rows {
		at := walkedDay.Start().Add(time.Duration(b.random.IntN(b.spread)) * time.Second)
		rows[i] = payment.Transaction{
			ID: uuid.New(), TenantID: b.tenantID, GatewayID: b.gatewayID, MerchantTransactionID: uuid.NewString(),
			OrderID: &b.gatewayID, LeadID: &b.gatewayID, Status: payment.TransactionPending, Type: payment.Sale, AmountMinor: 29_99,
			Currency: "EUR", Source: payment.SourceAPI, MaskedIBAN: "******************3000", BIC: "COBADEFFXXX",
			HolderName: "Anna Müller", Email: "anna@example.org", MandateReference: "MND-ABCDEFGHIJKL", MandateAt: at,
			ProcessedAt: at, CreatedAt: at, UpdatedAt: at,
		}
		ids = append(ids, rows[i].ID)
	}
	b.env.InsertTransactions(t, rows)
	return ids
}

// read reads the page of a query string.
func (b *books) read(t testing.TB, query string) recon.Page[payment.Transaction] {
	t.Helper()
	q, err := recon.Transactions.Parse(query, b.tenantID, b.env.Vault)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	page, err := recon.Transactions.Read(t.Context(), b.env.Store, b.env.Vault, q, "https://pay.example/list/")
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func queryOf(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host != "pay.example" || parsed.Path != "/list/" {
		t.Fatalf("the address is %q", address)
	}
	return parsed.RawQuery
}

func TestAWalkMeetsEveryRecordOnce(t *testing.T) {
	t.Parallel()
	count := walkedRecords(t)
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := openBooks(t, env, count/3)
		known := b.add(t, count)
		stop := b.disturb(t)
		defer stop()
		query := fmt.Sprintf("start_date=%s&end_date=%s&page_size=%d&colour=blue", walkedDay, walkedDay, min(1000, max(50, count/60)))
		page := b.read(t, query)
		forward := page.Rows
		for page.Next != "" {
			page = b.read(t, queryOf(t, page.Next))
			forward = append(forward, page.Rows...)
		}
		backward := page.Rows
		for page.Previous != "" {
			page = b.read(t, queryOf(t, page.Previous))
			backward = append(slices.Clone(page.Rows), backward...)
		}
		stop()
		wantOnce(t, "forward", forward, known)
		wantOnce(t, "backward", backward, known)
	})
}

// disturb adds and changes records until it is told to stop.
func (b *books) disturb(t *testing.T) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for round := 0; ; round++ {
			select {
			case <-done:
				return
			default:
			}
			b.add(t, 5)
			b.env.Exec(t, `UPDATE transactions SET status = 'approved', updated_at = updated_at + 1
				WHERE tenant_id = $1 AND id IN (SELECT id FROM transactions WHERE tenant_id = $1 AND status = 'pending' LIMIT 20)`,
				b.tenantID.String())
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		running.Wait()
	})
}

// wantOnce expects every known record exactly once, nothing twice, and all in
// order.
func wantOnce(t *testing.T, name string, rows []payment.Transaction, known []uuid.UUID) {
	t.Helper()
	met := map[uuid.UUID]int{}
	for i, row := range rows {
		met[row.ID]++
		if i > 0 && !before(rows[i-1], row) {
			t.Fatalf("%s: record %d is out of order", name, i)
		}
	}
	missing := 0
	for _, id := range known {
		if met[id] != 1 {
			missing++
		}
	}
	if missing > 0 || len(met) != len(rows) {
		t.Errorf("%s: %d of %d records were not met exactly once, %d were met twice", name, missing, len(known), len(rows)-len(met))
	}
}

func before(a, b payment.Transaction) bool {
	if order := a.ProcessedAt.Compare(b.ProcessedAt); order != 0 {
		return order > 0
	}
	return slices.Compare(a.ID[:], b.ID[:]) > 0
}

func TestNeighboursOfPages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := openBooks(t, env, 40)
		b.add(t, 10)
		all := fmt.Sprintf("start_date=%s&page_size=4", walkedDay)
		first := b.read(t, all)
		second := b.read(t, queryOf(t, first.Next))
		third := b.read(t, queryOf(t, second.Next))
		if first.Previous != "" || third.Next != "" || len(first.Rows) != 4 || len(third.Rows) != 2 {
			t.Errorf("the pages have %d and %d records, %q before and %q after them", len(first.Rows), len(third.Rows), first.Previous, third.Next)
		}
		again := b.read(t, queryOf(t, second.Previous))
		if again.Previous != "" || !sameRecords(again.Rows, first.Rows) {
			t.Error("the way back does not lead to the first page")
		}
		if back := b.read(t, queryOf(t, again.Next)); !sameRecords(back.Rows, second.Rows) {
			t.Error("and forward again does not lead to the second")
		}
		if whole := b.read(t, all+"0"); whole.Next != "" || whole.Previous != "" || len(whole.Rows) != 10 {
			t.Errorf("all on one page are %d, with %q and %q", len(whole.Rows), whole.Next, whole.Previous)
		}
		if exact := b.read(t, fmt.Sprintf("start_date=%s&page_size=10", walkedDay)); exact.Next != "" {
			t.Error("a page that is just full promises another")
		}
	})
}

func TestAPageThatHasComeToBeEmptyLeadsBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := openBooks(t, env, 40)
		b.add(t, 8)
		first := b.read(t, fmt.Sprintf("start_date=%s&page_size=4&status=pending", walkedDay))
		second := b.read(t, queryOf(t, first.Next))
		settle := func(rows []payment.Transaction) {
			for _, row := range rows {
				env.Exec(t, "UPDATE transactions SET status = 'approved' WHERE id = $1", row.ID.String())
			}
		}
		settle(second.Rows)
		empty := b.read(t, queryOf(t, first.Next))
		if len(empty.Rows) != 0 || empty.Next != "" || !sameRecords(b.read(t, queryOf(t, empty.Previous)).Rows, first.Rows) {
			t.Errorf("an empty last page has %d records, %q after it, and does not lead back", len(empty.Rows), empty.Next)
		}
		settle(first.Rows)
		for _, row := range second.Rows {
			env.Exec(t, "UPDATE transactions SET status = 'pending' WHERE id = $1", row.ID.String())
		}
		empty = b.read(t, queryOf(t, second.Previous))
		if len(empty.Rows) != 0 || empty.Previous != "" || !sameRecords(b.read(t, queryOf(t, empty.Next)).Rows, second.Rows) {
			t.Errorf("an empty first page has %d records, %q before it, and does not lead on", len(empty.Rows), empty.Previous)
		}
	})
}

func sameRecords(a, b []payment.Transaction) bool {
	return slices.EqualFunc(a, b, func(a, b payment.Transaction) bool { return a.ID == b.ID })
}
