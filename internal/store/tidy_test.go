package store_test

import (
	"fmt"
	"testing"
	"time"

	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestWhatIsOverGoesSomeAtATime: a shop that names its requests has hundreds of thousands of keys an hour. One unit that removed
// them all had everybody wait for SQLite's writer, and a shop's own keys were enough. What cannot be removed keeps but some.
func TestWhatIsOverGoesSomeAtATime(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	shop := env.Shop(t)
	const many, some, hour = 5_000, 2_000, time.Hour
	sale := env.Settled(t, shop).Transaction
	env.Exec(t, `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < `+fmt.Sprint(many)+`)
		INSERT INTO idempotency_keys (tenant_id, key, request_hash, session_id, expires_at) SELECT '`+shop.ID.String()+`', n, '', '', n FROM r`)
	match := store.Match{TenantID: shop.ID, ImportID: payment.NewID(), GatewayID: shop.Gateway.ID, From: env.Now, To: env.Now.Add(hour)}
	lines := make([]store.Compared, many)
	for i := range lines {
		lines[i] = store.Compared{Line: i + 1, MerchantTransactionID: fmt.Sprintf("%05d", i), Type: payment.Sale, AmountMinor: 1, Currency: "EUR", ProcessedAt: env.Now}
	}
	env.Write(t, func(tx *store.Tx) error {
		for i := range many {
			mail := store.Mail{Plan: payment.Plan{DueDate: payment.DateOf(env.Now)}, TenantID: shop.ID, ID: payment.NewID(), Kind: store.MailAnnounced}
			mail.Key, mail.TransactionID = fmt.Sprint(i+1), sale.ID
			tx.AddMail(mail, sale, false)
		}
		return tx.AddCompared(match, lines)
	})
	env.Exec(t, `UPDATE mails SET status = 'sent'`)

	for table, c := range map[string]struct {
		last   string
		forget func() error
	}{
		"idempotency_keys": {"key", func() error { return env.Store.ForgetExpiredKeys(t.Context(), env.Now) }},
		"compared_lines":   {"line", func() error { return env.Store.ForgetStaged(t.Context(), env.Now, clock.Real{}.Now().Add(hour)) }},
		"mails":            {"mail_key", func() error { return env.Store.ForgetMails(t.Context(), env.Now, env.Now.Add(hour)) }},
	} {
		env.Exec(t, fmt.Sprintf(`CREATE TRIGGER stays_%s BEFORE DELETE ON %s WHEN CAST(OLD.%s AS INTEGER) = %d BEGIN SELECT RAISE(ABORT, 'it stays'); END`, table, table, c.last, many))
		if err := c.forget(); err == nil {
			t.Errorf("of %s all went", table)
		}
		if left := env.Count(t, table); left == 0 || left > some {
			t.Errorf("%d of %d %s were in the unit that failed", left, many, table)
		}
		env.Exec(t, `DROP TRIGGER stays_`+table)
		if err := c.forget(); err != nil || env.Count(t, table) != 0 {
			t.Errorf("%d %s are left: %v", env.Count(t, table), table, err)
		}
		env.Exec(t, `ALTER TABLE `+table+` RENAME TO hidden_`+table)
		if err := c.forget(); err == nil {
			t.Errorf("of %s that cannot be read nothing is said", table)
		}
	}
}

// TestVeryManyRetriesAreLinedUpSomeAtATime: a receiver that refuses some events for hours and is back then has all of them lined
// up. On SQLite everybody waited for that.
func TestVeryManyRetriesAreLinedUpSomeAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		const many = 12_000
		events := make([]store.EventRow, many)
		for i := range events {
			events[i] = store.EventRow{Event: payment.Event{ID: payment.NewID(), Kind: payment.EventTransactionCreated, Key: fmt.Sprint(i)}, WebhookProfileID: &shop.Profile.ID}
		}
		env.Write(t, func(tx *store.Tx) error { tx.AddEvents(shop.ID, events); return nil })
		env.OutOfLine(t)
		env.Exec(t, fmt.Sprintf(`UPDATE events SET next_attempt_at = %d`, env.Now.UnixMicro()))
		units := 0
		for more := true; more; units++ {
			var err error
			if more, err = env.Store.LineUpRetries(t.Context(), env.Now, endpointOf(shop), time.Minute); err != nil {
				t.Fatal(err)
			}
			if left := env.Count(t, "events WHERE next_attempt_at IS NOT NULL"); env.Engine == "sqlite" && left == 0 && units == 0 {
				t.Error("one unit has lined all of them up")
			}
		}
		if left := env.Count(t, "events WHERE next_attempt_at IS NOT NULL"); left != 0 {
			t.Errorf("%d still wait after %d units", left, units)
		}
	})
}
