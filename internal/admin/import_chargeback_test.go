package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

const returnsHeader = "merchant_transaction_id,adapter_unique_id,transaction_id,amount,currency,report_date,reason_code\n"

// TestImportOfManyChargebacks crosses the borders of batches, twice at once.
func TestImportOfManyChargebacks(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		size, _ := s.App.Store.BulkBatch()
		known, unknown := min(size, 2_000)*2+300, 50
		var sales, returns strings.Builder
		sales.WriteString(header)
		returns.WriteString(returnsHeader)
		for i := range known {
			fmt.Fprintf(&sales, "M-%d,U-%d,approved,,%d.00,EUR,2026-03-01T00:00:00Z,,,\n", i, i, i%50+1)
			name := fmt.Sprintf("M-%d,,", i)
			if i%2 == 0 { // by the processor's id
				name = fmt.Sprintf(",,U-%d", i)
			}
			fmt.Fprintf(&returns, "%s,%d.00,EUR,2026-04-01,AM04\n", name, i%50+1)
		}
		for i := range unknown {
			fmt.Fprintf(&returns, "X-%d,,,9.00,EUR,2026-04-01,AM04\n", i)
			fmt.Fprintf(&returns, "M-%d,,,9999.00,EUR,2026-04-01,AM04\n", i) // known by now with another amount
		}
		s.Do(t, importing(t, "transactions", sales.String(), nil)).Want(t, http.StatusCreated, counts(known, 0, 0, 0))
		s.Do(t, importing(t, "chargebacks", returns.String(), apptest.Body{"dry_run": true})).Want(t, http.StatusCreated, counts(known+unknown, 0, 0, unknown))
		answers := s.AtOnce(t, importing(t, "chargebacks", returns.String(), nil).Times(2)...)
		news := 0
		for _, answer := range answers[http.StatusCreated] {
			answer.Want(t, http.StatusCreated, apptest.Fields{"status": "completed", "counts.updated": 0, "counts.rejected": unknown})
			news += int(answer.Get(t, "counts.new").(float64))
		}
		if len(answers[http.StatusCreated]) != 2 || news != known+unknown {
			t.Errorf("%d chargebacks are new, answered %v", news, answers)
		}
		for query, want := range map[string]int{
			`SELECT COUNT(*) FROM chargebacks WHERE transaction_id IS NOT NULL AND source = 'csv_import'`:    known,
			`SELECT COUNT(*) FROM chargebacks WHERE transaction_id IS NULL`:                                  unknown,
			`SELECT COUNT(*) FROM transactions WHERE status = 'charged_back'`:                                known,
			`SELECT COUNT(*) FROM events WHERE kind = 'chargeback.created'`:                                  known + unknown,
			`SELECT COUNT(*) FROM events WHERE kind = 'transaction.status_changed'`:                          known,
			`SELECT COUNT(*) FROM events WHERE kind = 'transaction.created' OR kind LIKE 'payment_session%'`: 0,
		} {
			if got := storetest.Scalar[int](t, s.Env, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	})
}

// returned is what a file of chargebacks is about: payments of every kind.
type returned struct {
	names []string // of the payments whose state is compared
	lines []string
}

// sellAndReturn makes payments and a file that charges them back, well and badly,
// beside a purchase that was billed again.
func sellAndReturn(t *testing.T, s *apptest.Server, prefix, token, first string) returned {
	t.Helper()
	var r returned
	reference := func(id string) string { return wantTransaction(t, s, id, nil).Text(t, "merchant_transaction_id") }
	rebill := storetest.Scalar[string](t, s.Env, `SELECT CAST(t.id AS TEXT) FROM transactions t JOIN orders o ON o.id = t.order_id
		JOIN sessions s ON s.id = o.session_id WHERE s.token = $1 AND t.type = 'sdd_rebill'`, store.TokenKey(token))
	_, plain := sale(t, s, apptest.Approved)
	_, pending := sale(t, s, apptest.PendingApproved)
	_, refunded := sale(t, s, apptest.Approved)
	s.Do(t, refunds(refunded, nil)).Want(t, http.StatusCreated, nil)
	declined := s.Pay(t, s.Create(t, apptest.Direct()), apptest.DeclinedInsufficientFunds).Text(t, "transaction.id")
	r.names = []string{first, rebill, plain, pending, refunded, declined}
	processor := wantTransaction(t, s, plain, nil).Text(t, "adapter_unique_id")
	later := prefix + "-LATER"
	r.lines = []string{
		reference(rebill) + ",,,29.99,EUR,2026-04-01,AM04", // the subscription ends here
		reference(first) + ",,,29.99,EUR,2026-04-01,MD06",
		",,P-" + prefix + ",5.00,EUR,2026-04-01,AM04", // the processor's id is all there is
		later + "," + processor + "-other,,49.00,EUR,2026-04-01,AM04",
		later + "," + processor + ",,49.00,EUR,2026-04-01,AM04", // finds its payment
		",," + processor + ",49.00,EUR,2026-04-01,AM04",         // by another name
		later + ",,,49.01,EUR,2026-04-01,AM04",
		reference(pending) + ",,,48.00,EUR,2026-04-01,AM04", // not to the cent
		reference(pending) + ",,,49.00,CHF,2026-04-01,AM04",
		reference(pending) + ",,,49.00,EUR,2026-04-01,AM04",
		reference(refunded) + ",,,49.00,EUR,2026-04-01,AM04",
		reference(declined) + ",,,49.00,EUR,2026-04-01,AM04",
		reference(first) + ",,,29.99,EUR,2026-04-01,MD06",
		",,P-" + prefix + ",5.00,EUR,2026-04-01,AM04",
	}
	return r
}

// TestChargebacksTogetherOrOneByOne: how a file is cut into batches changes
// nothing.
func TestChargebacksTogetherOrOneByOne(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		tokenA, firstA := paid(t, s, apptest.InCampaign(apptest.MonthlyCampaign), apptest.Approved)
		tokenB, firstB := paid(t, s, apptest.InCampaign(apptest.MonthlyCampaign), apptest.Approved)
		s.Advance(t, 33*24*time.Hour)
		together, oneByOne := sellAndReturn(t, s, "A", tokenA, firstA), sellAndReturn(t, s, "B", tokenB, firstB)
		take := func(lines ...string) (told []string) {
			answer := s.Do(t, importing(t, "chargebacks", returnsHeader+strings.Join(lines, "\n")+"\n", nil)).Want(t, http.StatusCreated, nil)
			for _, line := range answer.Get(t, "rejected_lines").([]any) {
				told = append(told, line.(map[string]any)["reason"].(string))
			}
			for _, kind := range []string{"new", "updated", "unchanged"} {
				for range int(answer.Get(t, "counts."+kind).(float64)) {
					told = append(told, kind)
				}
			}
			slices.Sort(told)
			return told
		}
		toldTogether, toldOneByOne := take(together.lines...), []string{}
		for _, line := range oneByOne.lines {
			toldOneByOne = append(toldOneByOne, take(line)...)
		}
		slices.Sort(toldOneByOne)
		if !slices.Equal(toldTogether, toldOneByOne) {
			t.Errorf("together:\n%s\none by one:\n%s", strings.Join(toldTogether, "\n"), strings.Join(toldOneByOne, "\n"))
		}
		states := func(r returned) (all []string) {
			for _, id := range r.names {
				now := wantTransaction(t, s, id, nil)
				all = append(all, fmt.Sprint(now.Get(t, "status"), now.Get(t, "order.status"), now.Get(t, "refunded_amount")),
					storetest.Scalar[string](t, s.Env, `SELECT COALESCE(MAX(reason_code || source || amount_minor || email || country || iban_masked
						|| COALESCE(gateway_reference, '-')), 'none') FROM chargebacks WHERE CAST(transaction_id AS TEXT) = $1`, id)[:4],
					storetest.Scalar[string](t, s.Env, `SELECT COALESCE(MAX(u.status || u.revenue_minor || COALESCE(u.next_billing_date, 'never')), 'none')
						FROM subscriptions u JOIN transactions t ON t.subscription_id = u.id WHERE CAST(t.id AS TEXT) = $1`, id),
					fmt.Sprint(storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM events WHERE payload LIKE '%' || $1 || '%'`, id)))
			}
			return all
		}
		if a, b := states(together), states(oneByOne); !slices.Equal(a, b) {
			t.Errorf("together:\n%s\none by one:\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
		if want := []string{"new", "updated", "unchanged"}; slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(toldTogether, w) }) {
			t.Errorf("the file tries too little: %v", toldTogether)
		}
	})
}

// TestWhatAProcessorSaysNamesNoAccount: it is shown to everybody who sees chargebacks.
func TestWhatAProcessorSaysNamesNoAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const file = "merchant_transaction_id,amount,currency,report_date,reason_code,reason_message,report_message,report_info,arn\n" +
			"M-1,49.00,EUR,2026-04-01,AC04,DE89370400440532013000,Konto DE89 3704 0044 0532 0130 00 erloschen,de89370400440532013000,DE89370400440532013000\n"
		s.Do(t, importing(t, "chargebacks", file, nil)).Want(t, http.StatusCreated, counts(1, 0, 0, 0))
		said := storetest.Scalar[string](t, s.Env, `SELECT reason_code || '|' || reason_message || '|' || report_message || '|' || report_info || '|' || arn FROM chargebacks`)
		masked := strings.Repeat("*", 18) + "3000"
		if want := "AC04|" + masked + "|Konto " + masked + " erloschen|" + masked + "|" + masked; said != want {
			t.Errorf("it says %q, want %q", said, want)
		}
	})
}

// TestTheChargebackOfWhatCameInChargedBack: a file of payments may say of one that it was charged back, and the file of chargebacks
// which follows has when, why and how much.
func TestTheChargebackOfWhatCameInChargedBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		sales := header + "M-1,U-1,charged_back,,49.00,EUR,2026-03-01T00:00:00Z,,,\nM-2,U-2,charged_back,,20.00,EUR,2026-03-01T00:00:00Z,,,\n"
		returns := returnsHeader + "M-1,,,49.00,EUR,2026-04-01,MD06\nC-2,,U-2,20.00,EUR,2026-04-01,AM04\n"
		s.Do(t, importing(t, "transactions", sales, nil)).Want(t, http.StatusCreated, counts(2, 0, 0, 0))
		answers := s.AtOnce(t, importing(t, "chargebacks", returns, nil).Times(2)...)
		if len(answers[http.StatusCreated]) != 2 {
			t.Errorf("answered %v", answers)
		}
		s.Do(t, importing(t, "chargebacks", returns, nil)).Want(t, http.StatusCreated, counts(0, 0, 2, 0))
		byOtherNames := returnsHeader + "M-2,,,20.00,EUR,2026-04-02,AM04\nC-1,,U-1,49.00,EUR,2026-04-02,MD06\n"
		s.Do(t, importing(t, "chargebacks", byOtherNames, nil)).Want(t, http.StatusCreated, counts(0, 0, 2, 0))
		for query, want := range map[string]int{
			`SELECT COUNT(*) FROM chargebacks`: 2,
			`SELECT COUNT(*) FROM chargebacks c JOIN transactions t ON t.id = c.transaction_id AND t.amount_minor = c.amount_minor WHERE c.reason_code <> ''`: 2,
			`SELECT COUNT(*) FROM transactions WHERE status = 'charged_back'`:                                                                                 2,
			`SELECT COUNT(*) FROM events WHERE kind = 'chargeback.created'`:                                                                                   2,
			`SELECT COUNT(*) FROM events WHERE kind = 'transaction.status_changed'`:                                                                           0,
		} {
			if got := storetest.Scalar[int](t, s.Env, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	})
}

// TestTheChargebackBeforeWhatCameInChargedBack: the file of chargebacks is taken in before the payments, which say themselves that they
// came back. Each is one chargeback, joined with its payment, also where a further file calls it by the payment's name.
func TestTheChargebackBeforeWhatCameInChargedBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		sales := header + "M-1,U-1,charged_back,,49.00,EUR,2026-03-01T00:00:00Z,,,\nM-2,U-2,charged_back,,20.00,EUR,2026-03-01T00:00:00Z,,,\n"
		returns := returnsHeader + "M-1,,,49.00,EUR,2026-04-01,MD06\nC-2,,U-2,20.00,EUR,2026-04-01,AM04\n"
		byOtherNames := returnsHeader + "M-2,,,20.00,EUR,2026-04-02,AM04\nC-1,,U-1,49.00,EUR,2026-04-02,MD06\n"
		s.Do(t, importing(t, "chargebacks", returns, nil)).Want(t, http.StatusCreated, counts(2, 0, 0, 0))
		s.Do(t, importing(t, "transactions", sales, nil)).Want(t, http.StatusCreated, counts(2, 0, 0, 0))
		s.Do(t, importing(t, "chargebacks", byOtherNames, nil)).Want(t, http.StatusCreated, counts(0, 0, 2, 0))
		s.Do(t, importing(t, "chargebacks", returns, nil)).Want(t, http.StatusCreated, counts(0, 0, 2, 0))
		for query, want := range map[string]int{
			`SELECT COUNT(*) FROM chargebacks`: 2,
			`SELECT COUNT(*) FROM chargebacks c JOIN transactions t ON t.id = c.transaction_id AND t.amount_minor = c.amount_minor`: 2,
			`SELECT COUNT(*) FROM transactions WHERE status = 'charged_back'`:                                                       2,
			`SELECT COUNT(*) FROM events WHERE kind = 'chargeback.created'`:                                                         2,
			`SELECT COUNT(*) FROM events WHERE kind = 'transaction.status_changed'`:                                                 0,
		} {
			if got := storetest.Scalar[int](t, s.Env, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	})
}

// Processors number their chargebacks anew, and two of them alike: one whose number is known is not for that known itself.
func TestTwoChargebacksOfOneNumber(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		sales := header + "M-1,U-1,approved,,49.00,EUR,2026-03-01T00:00:00Z,,,\nM-2,U-2,approved,,49.00,EUR,2026-03-01T00:00:00Z,,,\n"
		s.Do(t, importing(t, "transactions", sales, nil)).Want(t, http.StatusCreated, counts(2, 0, 0, 0))
		for _, one := range []struct {
			line, gateway string
			want          apptest.Fields
		}{
			{"1,,U-1,49.00,EUR,2026-04-01,MD06\n", apptest.Gateway, counts(1, 0, 0, 0)},
			{"1,,U-2,49.00,EUR,2026-05-01,MD06\n", apptest.Gateway, counts(0, 0, 0, 1)},
			{"1,,U-1,49.00,EUR,2026-04-01,MD06\n", apptest.Gateway, counts(0, 0, 1, 0)},
			{",,U-9,49.00,EUR,2026-04-01,MD06\n", apptest.Gateway, counts(1, 0, 0, 0)},
			{",,U-9,49.00,EUR,2026-05-01,MD06\n", apptest.PlainGateway, counts(0, 0, 0, 1)},
		} {
			of := apptest.Body{"gateway_id": one.gateway}
			s.Do(t, importing(t, "chargebacks", returnsHeader+one.line, of)).Want(t, http.StatusCreated, one.want)
		}
	})
}

// The processor's own number of a chargeback and its number of the payment are two things: by the second one the payment finds it,
// whichever comes first, and a file that is given again adds nothing.
func TestAChargebackWithANumberOfItsOwnFindsItsPayment(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		returns := returnsHeader + ",CB-1,U-1,49.00,EUR,2026-04-01,MD06\nC-2,CB-2,U-2,20.00,EUR,2026-04-01,AM04\n,,U-3,10.00,EUR,2026-04-01,AM04\n,,U-4,10.00,EUR,2026-04-01,AM04\n"
		s.Do(t, importing(t, "chargebacks", returns, nil)).Want(t, http.StatusCreated, counts(4, 0, 0, 0))
		sales := header + "M-1,U-1,approved,,49.00,EUR,2026-03-01T00:00:00Z,,,\nM-2,U-2,charged_back,,20.00,EUR,2026-03-01T00:00:00Z,,,\n" +
			"M-3,LATER-3,approved,,10.00,EUR,2026-03-01T00:00:00Z,,,\nM-4,LATER-4,approved,,10.00,EUR,2026-03-01T00:00:00Z,,,\n"
		s.Do(t, importing(t, "transactions", sales, nil)).Want(t, http.StatusCreated, counts(4, 0, 0, 0))
		// Whoever brought two of them in has died before it looked for their chargebacks.
		s.Env.Exec(t, `UPDATE transactions SET gateway_reference = 'U-3' WHERE gateway_reference = 'LATER-3'`)
		s.Env.Exec(t, `UPDATE transactions SET gateway_reference = 'U-4' WHERE gateway_reference = 'LATER-4'`)
		again := strings.Replace(returns, ",,U-4,", "M-4,,,", 1)
		s.Do(t, importing(t, "chargebacks", again, nil)).Want(t, http.StatusCreated, counts(0, 2, 2, 0))
		s.Do(t, importing(t, "chargebacks", again, nil)).Want(t, http.StatusCreated, counts(0, 0, 4, 0))
		for query, want := range map[string]int{
			`SELECT COUNT(*) FROM chargebacks`:                                        4,
			`SELECT COUNT(*) FROM chargebacks WHERE transaction_id IS NULL`:           0,
			`SELECT COUNT(*) FROM transactions WHERE status = 'charged_back'`:         4,
			`SELECT COUNT(*) FROM events WHERE kind = 'chargeback.created'`:           4,
			`SELECT COUNT(*) FROM chargebacks WHERE merchant_transaction_id = 'CB-1'`: 1,
		} {
			if got := storetest.Scalar[int](t, s.Env, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	})
}

// TestAChargebackWhileItsPaymentIsTakenIn: at PostgreSQL units are written side by side, and the file of payments, which has looked for
// the chargeback already, is not done yet when that comes and looks for its payment. One of them finds the other.
func TestAChargebackWhileItsPaymentIsTakenIn(t *testing.T) {
	t.Parallel()
	s := apptest.Open(t, storetest.FreshPostgres(t), apptest.Options{})
	db := s.Env.DB(t)
	defer db.Close()
	for _, statement := range []string{
		`CREATE FUNCTION wait_here() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END'`,
		`CREATE TRIGGER wait_here AFTER DELETE ON staged_transactions FOR EACH STATEMENT EXECUTE FUNCTION wait_here()`,
	} {
		s.Env.Exec(t, statement)
	}
	holder, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback() }()
	if _, err := holder.ExecContext(t.Context(), `SELECT pg_advisory_xact_lock(4711)`); err != nil {
		t.Fatal(err)
	}
	var payments sync.WaitGroup
	payments.Go(func() {
		sale := header + "M-1,U-1,approved,,49.00,EUR,2026-03-01T00:00:00Z,,,\n"
		s.Do(t, importing(t, "transactions", sale, nil)).Want(t, http.StatusCreated, counts(1, 0, 0, 0))
	})
	for storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted`) == 0 {
	}
	s.Do(t, importing(t, "chargebacks", returnsHeader+"M-1,,,49.00,EUR,2026-04-01,MD06\n", nil)).Want(t, http.StatusCreated, counts(1, 0, 0, 0))
	if err := holder.Commit(); err != nil {
		t.Fatal(err)
	}
	payments.Wait()
	for query, want := range map[string]int{
		`SELECT COUNT(*) FROM transactions WHERE status = 'charged_back'`:   1,
		`SELECT COUNT(*) FROM chargebacks WHERE transaction_id IS NOT NULL`: 1,
		`SELECT COUNT(*) FROM events WHERE kind = 'chargeback.created'`:     1,
		`SELECT COUNT(*) FROM staged_transactions`:                          0,
	} {
		if got := storetest.Scalar[int](t, s.Env, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}
