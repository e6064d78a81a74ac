package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/backup"
	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// TestRestoreDrill is the disaster as it would come: business, a backup, more
// business, and the database is gone. The gateway is elsewhere and remembers all.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	for name, isEarly := range map[string]bool{"asked first": false, "files first, for the gateway is away": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) { drill(t, env, isEarly) })
		})
	}
}

func drill(t *testing.T, env *storetest.Env, isEarly bool) {
	t.Helper()
	elsewhere := &processor{MemoryLedger: sandbox.NewMemoryLedger()}
	options := apptest.Options{Adapters: map[string]gateway.Kind{sandbox.Name: sandbox.Kind(elsewhere, sandbox.Options{})}}
	before := apptest.Open(t, env, options)
	subscribe(t, before, apptest.Approved, apptest.Approved, apptest.RebillDeclinedOnce, apptest.RebillAccountClosed)
	_, bought := before.Completed(t, apptest.Direct())
	open := before.Create(t, apptest.Direct())
	file := filepath.Join(t.TempDir(), "drill.backup")
	source := backup.Source{Store: env.Store, Address: env.URL, Vault: env.Vault, Environment: merchant.Sandbox, Now: clock.Real{}.Now()}
	if _, err := source.Write(t.Context(), file, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	saved := elsewhere.count()

	// What happens now will be lost: rebills, tries of refused ones, new payments.
	before.Pay(t, open, apptest.Approved).Want(t, http.StatusOK, apptest.Fields{"status": "completed"})
	subscribe(t, before, apptest.Approved)
	before.Completed(t, apptest.Direct())
	giveBack(t, before, bought, "the call that is lost")
	before.Advance(t, 40*24*time.Hour)
	offset := storetest.Scalar[int64](t, env, `SELECT offset_us FROM service_clock`)
	before.Stop(t)
	if made := elsewhere.count() - saved; made < 9 {
		t.Fatalf("only %d payments were made after the backup", made)
	}

	target := elsewhereTarget(t, env)
	if _, err := target.Restore(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	restored := &storetest.Env{Engine: env.Engine, URL: target.Address, Vault: env.Vault, Now: env.Now}
	restored.Store = restored.Reopen(t)
	restored.Exec(t, `UPDATE service_clock SET offset_us = $1`, offset) // elsewhere, time goes on by itself
	remembered := elsewhere.count()
	if isEarly {
		elsewhere.isAway.Store(true)
		meanwhile := apptest.Start(t, restored, options)
		meanwhile.Do(t, elsewhere.report(t)).Want(t, http.StatusCreated, nil)
		meanwhile.Stop(t)
		elsewhere.isAway.Store(false)
	}
	after := apptest.Start(t, restored, options)
	after.Key = before.Key
	apptest.Eventually(t, "the gateways have been asked", func() bool {
		to, err := restored.Store.RestoredTo(t.Context())
		return err == nil && to.IsZero()
	})
	after.Pay(t, open, apptest.Approved).Want(t, http.StatusGone, nil) // it was paid, and must not be again
	giveBack(t, after, bought, "another call for the same")
	after.Do(t, elsewhere.report(t)).Want(t, http.StatusCreated, apptest.Fields{"counts.rejected": 0})
	after.Advance(t, 0) // whatever is due would be billed now

	if now := elsewhere.count(); now != remembered {
		t.Errorf("the gateway has %d payments, and had %d before the restore", now, remembered)
	}
	ours := storetest.Scalar[int64](t, restored, `SELECT CAST(SUM(amount_minor) AS BIGINT) FROM transactions WHERE status = 'approved' AND type <> 'sdd_refund'`)
	if theirs := elsewhere.collected(); ours != theirs {
		t.Errorf("our books show %d collected, the gateway's %d", ours, theirs)
	}
	for _, finding := range unknownTo(t, restored, elsewhere) {
		t.Error(finding)
	}
}

// elsewhereTarget is a new place, as after the loss of a machine.
func elsewhereTarget(t *testing.T, env *storetest.Env) backup.Target {
	t.Helper()
	target := elsewhere(t, env)
	target.Now = clock.Real{}.Now()
	return target
}

func subscribe(t *testing.T, s *apptest.Server, accounts ...string) {
	t.Helper()
	for _, iban := range accounts {
		token := s.Create(t, apptest.Direct().With(apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"}))
		s.Pay(t, token, iban).Want(t, http.StatusOK, apptest.Fields{"status": "completed"})
	}
}

// giveBack refunds a part of a payment, under a key.
func giveBack(t *testing.T, s *apptest.Server, bought apptest.Answer, key string) {
	t.Helper()
	paid := "/admin/v1/transactions/" + bought.Text(t, "transaction.id") + "/"
	s.Do(t, apptest.Request{
		Path: paid + "refunds/", Key: apptest.AdminToken, Body: apptest.Body{"amount": "1.00"}, Header: map[string]string{"Idempotency-Key": key},
	}).Want(t, http.StatusCreated, apptest.Fields{"status": "approved", "source": "admin_refund"})
	s.Do(t, apptest.Request{Path: paid, Key: apptest.AdminToken}).Want(t, http.StatusOK, apptest.Fields{"refunded_amount": "1.00"})
}

// processor is a gateway whose memory is not in our database.
type processor struct {
	*sandbox.MemoryLedger
	isAway  atomic.Bool
	mu      sync.Mutex
	entries []sandbox.Entry
}

func (p *processor) Insert(ctx context.Context, e sandbox.Entry) (sandbox.Entry, bool, error) {
	stored, inserted, err := p.MemoryLedger.Insert(ctx, e)
	if inserted {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.entries = append(p.entries, stored)
	}
	return stored, inserted, err
}

func (p *processor) Find(ctx context.Context, key sandbox.Key) (sandbox.Entry, bool, error) {
	if p.isAway.Load() {
		return sandbox.Entry{}, false, errors.New("away")
	}
	return p.MemoryLedger.Find(ctx, key)
}

func (p *processor) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.entries)
}

func (p *processor) collected() (sum int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.entries {
		if e.Collected() {
			sum += int64(e.AmountMinor)
		}
	}
	return sum
}

// report is the processor's file of everything that it has, as an operator takes it
// in after a restore.
func (p *processor) report(t *testing.T) apptest.Request {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{"tenant_id": apptest.Shop, "gateway_id": apptest.Gateway, "kind": "transactions"} {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile("file", "report.csv")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(part, "merchant_transaction_id,adapter_unique_id,status,type,amount,currency,date_processed")
	for _, e := range p.entries {
		status := payment.TransactionDeclined
		if e.State == sandbox.StateApproved {
			status = payment.TransactionApproved
		}
		fmt.Fprintf(part, "%s,%s,%s,%s,%s,%s,%s\n", e.MerchantTransactionID, e.Reference, status, e.Type.Standardized(), e.AmountMinor, e.Currency,
			e.ReceivedAt.UTC().Format(time.RFC3339))
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return apptest.Request{
		Path: "/admin/v1/imports/", Key: apptest.AdminToken, Body: body.String(),
		Header: map[string]string{"Content-Type": form.FormDataContentType()},
	}
}

// unknownTo names the payments that a processor has under a name or with an outcome
// that is not ours.
func unknownTo(t *testing.T, env *storetest.Env, p *processor) (findings []string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	books := map[string]string{}
	rows, err := env.DB(t).QueryContext(t.Context(), `SELECT merchant_transaction_id, status FROM transactions`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, status string
		if err := rows.Scan(&name, &status); err != nil {
			t.Fatal(err)
		}
		books[name] = status
	}
	for _, e := range p.entries {
		if isApproved := books[e.MerchantTransactionID] == "approved"; isApproved != (e.State == sandbox.StateApproved) {
			findings = append(findings, fmt.Sprintf("%s is %s there and %q here", e.MerchantTransactionID, e.State, books[e.MerchantTransactionID]))
		}
		delete(books, e.MerchantTransactionID)
	}
	for name := range books {
		findings = append(findings, name+" is known to us alone")
	}
	return findings
}
