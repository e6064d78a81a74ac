package banking_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store/storetest"
)

var monthly = apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"}

// told counts what payers were told of a transaction, "" for all.
func (b *bundle) told(t *testing.T, id string) int {
	t.Helper()
	return storetest.Scalar[int](t, b.Env, `SELECT COUNT(*) FROM events WHERE kind = 'collection.announced' AND event_key LIKE $1`,
		"collection.announced:"+id+"%")
}

// rebill gives the id of the latest rebill.
func (b *bundle) rebill(t *testing.T) string {
	t.Helper()
	return storetest.Scalar[string](t, b.Env, `SELECT CAST(id AS TEXT) FROM transactions WHERE type = 'sdd_rebill' ORDER BY id DESC LIMIT 1`)
}

// subscription is that of a transaction.
func (b *bundle) subscription(t *testing.T, transactionID string) payment.Subscription {
	t.Helper()
	found, err := b.App.Store.Tenant(uuid.MustParse(apptest.Shop)).Subscription(t.Context(), *b.statusOf(t, transactionID).SubscriptionID)
	must(t, err)
	return found
}

// collectedRebill is a rebill that is in a file.
type collectedRebill struct {
	period            int
	collected, told   string
	toldAt, writtenAt time.Time
}

func (b *bundle) collectedRebills(t *testing.T) (all []collectedRebill) {
	t.Helper()
	db := b.Env.DB(t)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT t.billing_period, e.due_date, t.due_date, v.created_at, f.created_at FROM transactions t
		JOIN bank_file_entries e ON e.transaction_id = t.id JOIN bank_files f ON f.id = e.file_id
		JOIN events v ON v.event_key = 'collection.announced:' || CAST(t.id AS TEXT) || ':' || t.due_date
		WHERE t.type = 'sdd_rebill' ORDER BY t.billing_period`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var one collectedRebill
		var told, written int64
		must(t, rows.Scan(&one.period, &one.collected, &one.told, &told, &written))
		one.toldAt, one.writtenAt = time.UnixMicro(told).UTC(), time.UnixMicro(written).UTC()
		all = append(all, one)
	}
	must(t, rows.Err())
	return all
}

// TestRebillsAreToldBeforeTheyAreCollected goes through a year: each rebill is announced so many days before it is due,
// and due on its billing day or the next business day.
func TestRebillsAreToldBeforeTheyAreCollected(t *testing.T) {
	t.Parallel()
	for _, terms := range []struct{ notice, lead int }{{2, 1}, {10, 1}, {1, 5}} {
		t.Run(fmt.Sprintf("%d days of notice and %d of lead", terms.notice, terms.lead), func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				b := setup(t, s, fmt.Sprintf("notice_days: %d", terms.notice), fmt.Sprintf("lead_days: %d", terms.lead))
				sub := b.subscription(t, b.pay(t, apptest.Approved, monthly))
				began := time.Now()
				b.Advance(t, 365*24*time.Hour)
				// The sandbox's clock goes on while it is moved, and on a busy machine that takes its time.
				late := time.Minute + time.Since(began)
				rebills := b.collectedRebills(t)
				if len(rebills) < 11 {
					t.Fatalf("%d rebills in a year", len(rebills))
				}
				for i, rebill := range rebills {
					day := sepa.NextBusinessDay(sub.PeriodStart(i + 1).Start())
					due, file := day.Format(time.DateOnly), b.account.Terms.CutOffFor(day)
					if rebill.period != i+1 || rebill.collected != due || rebill.told != due {
						t.Errorf("period %d is collected on %s, told for %s, want %s", rebill.period, rebill.collected, rebill.told, due)
					}
					if noticed := day.AddDate(0, 0, -terms.notice).Add(late); rebill.toldAt.After(noticed) {
						t.Errorf("period %d is told at %s for %s", i+1, rebill.toldAt, due)
					}
					if rebill.writtenAt.Sub(file).Abs() > late {
						t.Errorf("period %d is written at %s, and its cut-off is %s", i+1, rebill.writtenAt, file)
					}
				}
				if told, made := b.told(t, ""), b.Env.Count(t, "transactions"); told != made {
					t.Errorf("%d of %d collections were told", told, made)
				}
			})
		})
	}
}

// dayAt is the day at the bank.
func (b *bundle) dayAt(t *testing.T, at time.Time) payment.Date {
	t.Helper()
	day, err := payment.ParseDate(at.In(b.account.Terms.Zone).Format(time.DateOnly))
	must(t, err)
	return day
}

// TestTheDayThatIsShownIsTheDayOfTheDebit asks what the page shows before paying.
func TestTheDayThatIsShownIsTheDayOfTheDebit(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}), "notice_days: 9")
	token := b.Create(t, apptest.Direct().With(apptest.Body{"gateway_id": houseBank}))
	shown, err := b.App.Checkout.Retrieve(t.Context(), token)
	must(t, err)
	id := b.Pay(t, token, apptest.Approved).Want(t, 200, nil).Text(t, "transaction.id")
	b.Advance(t, 20*24*time.Hour)
	collected := storetest.Scalar[string](t, b.Env, `SELECT due_date FROM bank_file_entries`)
	if told := b.statusOf(t, id).DueDate; told != shown.EarliestDue || told.String() != collected || b.told(t, id) != 1 {
		t.Errorf("shown %s, told %s (%d times), collected %s", shown.EarliestDue, told, b.told(t, id), collected)
	}
	if day := b.dayAt(t, b.statusOf(t, id).CreatedAt).AddDays(9).DueDate(); day.String() != collected {
		t.Errorf("collected on %s, want %s", collected, day)
	}
}

// TestWhatEndedAfterTheAnnouncementIsNotCollected cancels between the two.
func TestWhatEndedAfterTheAnnouncementIsNotCollected(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "notice_days: 7")
		first := b.pay(t, apptest.Approved, monthly)
		sub := b.subscription(t, first)
		b.Advance(t, sub.PeriodStart(1).AddDays(-3).Start().Sub(b.Now(t)))
		rebill := b.rebill(t)
		b.wantStatus(t, rebill, "pending")
		b.operator(t, "subscriptions/"+sub.ID.String()+"/cancel/", apptest.Body{}).Want(t, 200, nil)
		files := len(b.files(t))
		b.Advance(t, 14*24*time.Hour)
		b.wantStatus(t, rebill, "declined")
		after := b.subscription(t, first)
		if len(b.files(t)) != files || after.OpenTransactionID != nil || after.FailedCount != 0 || b.statusOf(t, rebill).GatewayReference != "" {
			t.Errorf("%d files, want %d; %+v", len(b.files(t)), files, after)
		}
		changed := storetest.Scalar[int](t, b.Env, `SELECT COUNT(*) FROM events WHERE event_key = $1`, "transaction.status_changed:"+rebill+":pending>declined")
		if b.told(t, rebill) != 1 || changed != 1 {
			t.Errorf("it was told %d times, its end %d times", b.told(t, rebill), changed)
		}
		b.wantStatus(t, first, "approved")
	})
}

// TestWhatIsPausedAfterTheAnnouncementIsNotCollected pauses between the two, and goes on later.
func TestWhatIsPausedAfterTheAnnouncementIsNotCollected(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "notice_days: 7")
		first := b.pay(t, apptest.Approved, monthly)
		sub := b.subscription(t, first)
		b.Advance(t, sub.PeriodStart(1).AddDays(-3).Start().Sub(b.Now(t)))
		rebill := b.rebill(t)
		b.operator(t, "subscriptions/"+sub.ID.String()+"/pause/", apptest.Body{}).Want(t, 200, nil)
		files := len(b.files(t))
		b.Advance(t, 14*24*time.Hour)
		b.wantStatus(t, rebill, "declined")
		if after := b.subscription(t, first); len(b.files(t)) != files || after.OpenTransactionID != nil || after.FailedCount != 0 || after.Tries != 0 {
			t.Errorf("%d files, want %d; %+v", len(b.files(t)), files, after)
		}
		b.operator(t, "subscriptions/"+sub.ID.String()+"/resume/", apptest.Body{}).Want(t, 200, nil)
		b.Advance(t, sub.PeriodStart(2).Start().Sub(b.Now(t)))
		next := b.statusOf(t, b.rebill(t))
		if next.ID.String() == rebill || next.DueDate != sub.PeriodStart(2).DueDate() || b.told(t, next.ID.String()) != 1 {
			t.Errorf("after the pause %s is due, told %d times", next.DueDate, b.told(t, next.ID.String()))
		}
	})
}

// TestRebillsWaitWhileABankBlamesUs holds what was announced back until a person resumes; then it has another day, of
// which payers are told.
func TestRebillsWaitWhileABankBlamesUs(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}), "notice_days: 7")
	sub := b.subscription(t, b.pay(t, apptest.Approved, monthly))
	b.Advance(t, sub.PeriodStart(1).AddDays(-3).Start().Sub(b.Now(t)))
	rebill := b.rebill(t)
	told := b.statusOf(t, rebill).DueDate
	b.Env.Exec(t, `INSERT INTO rebill_pauses (tenant_id, gateway_id, reason, reason_code, since) VALUES ($1, $2, 'creditor', 'AC03', 1)`, apptest.Shop, houseBank)
	b.Advance(t, 7*24*time.Hour)
	b.wantStatus(t, rebill, "pending")
	if b.statusOf(t, rebill).GatewayReference != "" {
		t.Fatal("it is in a file")
	}
	b.Env.Exec(t, `DELETE FROM rebill_pauses`)
	b.cutOff(t)
	moved := b.statusOf(t, rebill)
	collected := storetest.Scalar[string](t, b.Env, `SELECT due_date FROM bank_file_entries WHERE transaction_id = $1`, rebill)
	if moved.DueDate == told || moved.DueDate.String() != collected || b.told(t, rebill) != 2 {
		t.Errorf("told for %s and then for %s (%d times), collected on %s", told, moved.DueDate, b.told(t, rebill), collected)
	}
}

// TestNothingIsToldTwice has several processes prepare the same rebills.
func TestNothingIsToldTwice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "notice_days: 7")
		const many = 12
		var sub payment.Subscription
		for range many {
			sub = b.subscription(t, b.pay(t, apptest.Approved, monthly))
		}
		b.Advance(t, 14*24*time.Hour) // the first payments are settled
		b.MoveClock(t, sub.PeriodStart(1).DueDate().AddDays(-6).Start().Sub(b.Now(t)))
		now := b.Now(t)
		var processes sync.WaitGroup
		for range 4 {
			processes.Go(func() {
				if _, err := b.App.Billing.RunDue(t.Context(), now); err != nil {
					t.Error(err)
				}
			})
		}
		processes.Wait()
		rebills := storetest.Scalar[int](t, b.Env, `SELECT COUNT(*) FROM transactions WHERE type = 'sdd_rebill'`)
		if told := b.told(t, ""); rebills != many || told != 2*many {
			t.Errorf("%d rebills, %d told of", rebills, told)
		}
	})
}

// TestACrashBeforeTheAnnouncement leaves a rebill open that nobody was told of: asked about it later, the bank's adapter
// says that it waits, and the payer has the whole notice from then on.
func TestACrashBeforeTheAnnouncement(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}), "notice_days: 7")
	sub := b.subscription(t, b.pay(t, apptest.Approved, monthly))
	b.Advance(t, sub.PeriodStart(1).DueDate().AddDays(-6).Start().Sub(b.Now(t)))
	rebill := b.rebill(t)
	b.Env.Exec(t, `DELETE FROM events WHERE kind IN ('collection.announced', 'transaction.created') AND event_key LIKE $1`, "%"+rebill+"%")
	b.Env.Exec(t, `UPDATE transactions SET in_flight = 'submit', lookup_count = 1, due_date = NULL, processed_at = NULL, settle_due_at = NULL WHERE id = $1`, rebill)
	b.Env.Exec(t, `UPDATE subscriptions SET next_billing_date = $1`, sub.PeriodStart(1).String())
	b.MoveClock(t, 3*24*time.Hour)
	b.LookUp(t)
	now, due := b.Now(t), b.statusOf(t, rebill).DueDate
	if b.told(t, rebill) != 1 || due != b.dayAt(t, now).AddDays(7).DueDate() {
		t.Errorf("told %d times, due on %s at %s", b.told(t, rebill), due, now)
	}
}

// TestANoticeFitsIntoThePeriod: a payer cannot be told of a debit before the period ahead of it has begun.
func TestANoticeFitsIntoThePeriod(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}), "notice_days: 7")
	const sentence = "The gateway tells payers 7 days before each debit (notice_days), which does not fit into a period of 7 days."
	shop, offer := "tenants/"+apptest.Shop+"/", apptest.Body{"name": "Weekly", "price": "5.00", "currency": "EUR", "billing_type": "RECURRING", "billing_frequency": "WEEKLY"}
	weekly := apptest.Body{"name": "Weekly", "gateway_id": houseBank, "offer_id": b.operator(t, shop+"offers/", offer).Want(t, 201, nil).Text(t, "id")}
	notice := func(days int) apptest.Answer {
		settings := apptest.Body{"account_iban": "DE89370400440532013000", "folder": b.folder, "notice_days": days}
		return b.Do(t, apptest.Request{Method: "PATCH", Path: "/admin/v1/" + shop + "gateways/" + houseBank + "/", Key: apptest.AdminToken, Body: apptest.Body{"settings": settings}})
	}
	create := func(rhythm string) apptest.Answer {
		return b.TryCreate(t, apptest.Direct().With(apptest.Body{"gateway_id": houseBank, "billing_type": "RECURRING", "billing_frequency": rhythm}))
	}

	t.Run("a session of a faster rhythm is refused", func(t *testing.T) {
		create("WEEKLY").WantBad(t, map[string]string{"billing_frequency": sentence})
		create("BIWEEKLY").Want(t, 201, nil)
		notice(14).Want(t, 200, nil)
		create("BIWEEKLY").WantBad(t, map[string]string{"billing_frequency": strings.ReplaceAll(sentence, "7 days", "14 days")})
		create("MONTHLY").Want(t, 201, nil)
		notice(7).Want(t, 200, nil)
	})
	t.Run("and so is a campaign", func(t *testing.T) {
		b.operator(t, shop+"campaigns/", weekly).WantBad(t, map[string]string{"gateway_id": sentence})
	})
	t.Run("and a notice that is made longer while there is one", func(t *testing.T) {
		notice(6).Want(t, 200, nil)
		b.operator(t, shop+"campaigns/", weekly).Want(t, 201, nil)
		create("WEEKLY").Want(t, 201, nil)
		notice(7).WantBad(t, map[string]string{"settings.notice_days": sentence})
	})
}
