package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/gateway"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// purchase is a subscription to be sold.
type purchase struct {
	at      time.Time
	payer   int
	terms   string
	account sandbox.TestIBAN
}

// starters are the accounts with which a subscription can begin, as often as they
// are to be met: most live long.
var starters = map[sandbox.Outcome]int{
	sandbox.Approved: 6, sandbox.Slow: 1, sandbox.VerificationApproved: 1, sandbox.VerificationPage: 1,
	sandbox.PendingApproved: 3, sandbox.PendingDeclined: 1, sandbox.TimeoutApproved: 2, sandbox.Chargeback: 1,
	sandbox.ReturnedInsufficientFunds: 2, sandbox.ReturnedMandateRejected: 1, sandbox.ReturnedAccountClosed: 1,
	sandbox.RebillDeclinedOnce: 3, sandbox.RebillDeclined: 1, sandbox.RebillAccountClosed: 1,
}

// kinds are all terms on which a subscription is sold: each frequency and none,
// at once and after trials in days, weeks and months, paid and free.
func kinds() (all []string) {
	for _, frequency := range append(slices.Clone(payment.BillingFrequencies), "") {
		rhythm := ""
		if frequency != "" {
			rhythm = fmt.Sprintf(`, "billing_frequency": %q`, frequency)
		}
		all = append(all, `, "billing_type": "RECURRING"`+rhythm)
		for _, trial := range []string{
			`10, "trial_interval_unit": "day", "trial_price": "1.00"`, `2, "trial_interval_unit": "week"`,
			`1, "trial_interval_unit": "month", "trial_price": "9.90"`, `2, "trial_interval_unit": "month"`,
		} {
			all = append(all, `, "billing_type": "TRIAL_RECURRING"`+rhythm+`, "trial_period": `+trial)
		}
	}
	return all
}

// plan spreads purchases over the first third of the time: on a leap day, on the
// ends of months, where dates are hard, and on any other day.
func (y *years) plan(count int) []purchase {
	days := []time.Time{time.Date(2028, time.February, 29, 23, 59, 59, 0, time.UTC), y.from}
	for third := int(y.end.Sub(y.from) / (3 * day)); len(days) < 30; {
		at := y.from.Add(time.Duration(y.w.random.IntN(third))*day + time.Duration(y.w.random.IntN(24))*time.Hour)
		if at.Day() >= 28 || y.w.chance(10) {
			days = append(days, at)
		}
	}
	accounts := startingAccounts()
	all := kinds()
	y.w.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	plan := make([]purchase, count)
	for i := range plan {
		plan[i] = purchase{at: days[i%len(days)], terms: all[i%len(all)], account: pick(y.w, accounts)}
	}
	slices.SortStableFunc(plan, func(a, b purchase) int { return a.at.Compare(b.at) })
	return plan
}

func startingAccounts() (accounts []sandbox.TestIBAN) {
	for _, account := range sandbox.TestIBANs() {
		for range starters[account.Outcome] {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

// atOnce is how many purchases are under way together: a server that dies takes
// all of them with it.
const atOnce = 5

// sell makes the purchases whose time has come.
func (y *years) sell() {
	y.t.Helper()
	for {
		few := y.purchases[:min(atOnce, len(y.purchases))]
		if later := slices.IndexFunc(few, func(p purchase) bool { return p.at.After(y.w.serviceNow()) }); later >= 0 {
			few = few[:later]
		}
		if len(few) == 0 {
			return
		}
		y.purchases = y.purchases[len(few):]
		y.sold += len(few)
		for range 4 { // as somebody else, where it came to nothing
			for i := range few {
				if !y.bought[few[i].payer] {
					y.customers++
					few[i].payer = y.customers
					y.order(few[i])
				}
			}
			y.untilAllRest()
		}
	}
}

func (y *years) order(what purchase) {
	p, m := pick(y.w, y.processes), pick(y.w, y.merchants)
	body := fmt.Sprintf(`{"campaign_id": %q, "max_payment_attempts": 5, "lead": {"first_name": "Ada", "last_name": "Byron",
		"email": "payer%d@shop.example", "country": "DE"}%s}`, m.shop.Campaign.ID, what.payer, what.terms)
	y.call(p, "create", http.MethodPost, "", bearer(m.key), body, func(status int, body []byte) {
		var created storetest.Result
		if status == http.StatusCreated && json.Unmarshal(body, &created) == nil {
			y.promises.Created(created.SessionToken)
			y.payFor(p, created.SessionToken, what, 3)
		}
	})
}

// payFor pays, again where the bank could not be reached, and confirms the mandate
// where the bank wants that.
func (y *years) payFor(p *process, token string, what purchase, tries int) {
	body := fmt.Sprintf(`{"iban": %q, "iban_holder_name": "Ada Byron"}`, what.account.IBAN)
	y.call(p, "pay", http.MethodPost, token+"/pay/", http.Header{}, body, func(status int, body []byte) {
		var result storetest.Result
		// What is not known yet may still come to be.
		y.bought[what.payer] = status >= http.StatusInternalServerError
		if status != http.StatusOK || json.Unmarshal(body, &result) != nil {
			return
		}
		y.promises.Answered(result)
		y.bought[what.payer] = result.Status == payment.ResultCompleted || result.Status == payment.ResultAwaiting
		switch {
		case result.Status == payment.ResultDeclined && tries > 1:
			y.payFor(p, token, what, tries-1)
		case result.Status == payment.ResultAwaiting:
			y.confirm(p, token, 8)
		}
	})
}

// confirm has the payer go to the bank, and asks what they decided until there is
// an answer.
func (y *years) confirm(p *process, token string, tries int) {
	y.decideAtBank()
	y.call(p, "verify", http.MethodPost, token+"/verify/", http.Header{}, "", func(status int, _ []byte) {
		if status != http.StatusOK && tries > 1 {
			y.confirm(p, token, tries-1)
		}
	})
}

// fates are what else may become of a rebill, in ten thousand.
var fates = []struct {
	outcome sandbox.Outcome
	share   int
}{
	{sandbox.DeclinedInsufficientFunds, 500},
	{sandbox.DeclinedDoNotHonor, 150},
	{sandbox.DeclinedUnknown, 50},
	{sandbox.DeclinedAccountClosed, 2},
	{sandbox.DeclinedMandateRejected, 2},
	{sandbox.DeclinedInvalidIBAN, 2},
	{sandbox.DeclinedFinal, 2},
	{sandbox.PendingApproved, 500},
	{sandbox.PendingDeclined, 200},
	{sandbox.Chargeback, 4},
	{sandbox.ReturnedInsufficientFunds, 150},
	{sandbox.ReturnedMandateRejected, 3},
	{sandbox.ReturnedAccountClosed, 3},
	{sandbox.TimeoutApproved, 300},
	{sandbox.TimeoutLost, 100},
	{sandbox.GatewayUnavailable, 100},
}

// fate has a payer's account behave in another way for one try of a rebill. It
// follows from the seed and the try alone, whoever makes it and whenever.
func (y *years) fate(charge gateway.Charge) gateway.Charge {
	if charge.Type != payment.Rebill {
		return charge
	}
	sum := fnv.New64a()
	fmt.Fprint(sum, charge.Lead.Email, charge.At.UnixMicro(), charge.PeriodTry)
	n := rand.New(rand.NewPCG(y.w.seed, sum.Sum64())).IntN(10_000)
	for _, f := range fates {
		if n -= f.share; n < 0 {
			charge.Instrument.IBAN = accountOf(f.outcome)
			break
		}
	}
	return charge
}

func accountOf(outcome sandbox.Outcome) sepa.IBAN {
	accounts := sandbox.TestIBANs()
	at := slices.IndexFunc(accounts, func(a sandbox.TestIBAN) bool { return a.Outcome == outcome })
	iban, err := sepa.ParseIBAN(accounts[at].IBAN)
	if err != nil {
		panic(err)
	}
	return iban
}

// meddle is what people and gateways do to subscriptions and rebills at any time.
func (y *years) meddle() {
	p := pick(y.w, y.processes)
	switch n := y.w.random.IntN(100); {
	case n < 5:
		y.cancel(p)
	case n < 8:
		y.chargeBack(p)
	case n < 35:
		y.refund(p)
	case n < 70:
		y.sayAgain(p)
	case n < 74:
		y.resume(p)
	case n < 76:
		y.takeAway()
	case n < 78:
		y.spoil()
	}
}

// resume has a person look after the gateway accounts that a bank has blamed.
func (y *years) resume(p *process) {
	y.t.Helper()
	pauses, err := y.env.Store.RebillPauses(y.t.Context())
	if err != nil {
		y.fail("reading the pauses: %v", err)
	}
	for _, pause := range pauses {
		y.work(p, "resumption", func(ctx context.Context) error {
			_, err := p.app.Billing.Resume(ctx, pause.TenantID, pause.GatewayID)
			return tolerate(err)
		})
	}
}

// takeAway has nobody reach the gateway for hours or days.
func (y *years) takeAway() {
	y.gateway.backAt = y.w.serviceNow().Add(pick(y.w, []time.Duration{2 * time.Hour, 12 * time.Hour, 2 * day, 5 * day}))
	y.outages++
	y.w.note("the gateway is away until %s", y.gateway.backAt)
}

// spoil breaks the stored account of a subscription, as a damaged disk would, and
// mends the one that was broken before.
func (y *years) spoil() {
	y.t.Helper()
	y.mend()
	if len(y.subscriptions) == 0 {
		return
	}
	id := pick(y.w, y.subscriptions).ID
	db := y.env.DB(y.t)
	defer db.Close()
	var sealed string
	err := db.QueryRowContext(y.t.Context(), `SELECT iban_sealed FROM subscriptions WHERE id = $1`, id).Scan(&sealed)
	if err == nil {
		_, err = db.ExecContext(y.t.Context(), `UPDATE subscriptions SET iban_sealed = $2 WHERE id = $1`, id, "spoilt")
	}
	if err != nil {
		y.fail("spoiling %s: %v", id, err)
	}
	y.w.note("the account of subscription %s is spoilt", id)
	y.spoilt, y.sealed = id, sealed
	y.poisoned++
}

func (y *years) mend() {
	y.t.Helper()
	if y.spoilt == "" {
		return
	}
	db := y.env.DB(y.t)
	defer db.Close()
	if _, err := db.ExecContext(y.t.Context(), `UPDATE subscriptions SET iban_sealed = $2 WHERE id = $1`, y.spoilt, y.sealed); err != nil {
		y.fail("mending %s: %v", y.spoilt, err)
	}
	y.spoilt = ""
}

// cancel ends a subscription, often one that is about to be billed.
func (y *years) cancel(p *process) {
	if len(y.subscriptions) == 0 {
		return
	}
	sub := pick(y.w, y.subscriptions)
	tenant, id := sub.Tenant, sub.ID
	if y.w.chance(70) {
		db := y.env.DB(y.t)
		defer db.Close()
		due := db.QueryRowContext(y.t.Context(), `SELECT tenant_id, id FROM subscriptions WHERE due_at <= $1 ORDER BY due_at, id LIMIT 1 OFFSET $2`,
			y.w.serviceNow().UnixMicro(), y.w.random.IntN(3))
		_ = due.Scan(&tenant, &id) // where none is due it is the other one
	}
	y.work(p, "cancellation", func(ctx context.Context) error {
		_, err := p.app.Billing.Cancel(ctx, uuid.MustParse(tenant), uuid.MustParse(id), payment.CancelledByOperator)
		if err == nil {
			y.rules.CancelledByHand[id] = true
		}
		return tolerate(err)
	})
}

func (y *years) refund(p *process) {
	if len(y.rebills) == 0 {
		return
	}
	x := pick(y.w, y.rebills)
	var amount *payment.Minor
	if y.w.chance(60) {
		amount = new(payment.Minor(1 + y.w.random.Int64N(x.AmountMinor)))
	}
	y.work(p, "refund", func(ctx context.Context) error {
		_, err := p.app.Checkout.Refund(ctx, uuid.MustParse(x.Tenant), uuid.MustParse(x.ID), checkout.RefundRequest{AmountMinor: amount}, store.RequestKey{})
		return tolerate(err)
	})
}

// returnCodes has every class of reason: a failed billing, the end, the payer's
// claim, a mistake of ours, and a code that says nothing.
var returnCodes = []string{"AM04", "MS03", "AC04", "MD01", "MD06", "AC03", "BE05", ""}

// chargeBack records by hand what only a payment that was collected can meet.
func (y *years) chargeBack(p *process) {
	if len(y.rebills) == 0 {
		return
	}
	x := pick(y.w, y.rebills)
	if x.Status != payment.TransactionApproved {
		return
	}
	report := payment.Chargeback{
		Source: payment.ChargebackManual, AmountMinor: payment.Minor(x.AmountMinor), ReasonCode: pick(y.w, returnCodes),
	}
	y.work(p, "chargeback", func(ctx context.Context) error {
		_, err := p.app.Checkout.ChargeBack(ctx, uuid.MustParse(x.Tenant), uuid.MustParse(x.ID), report, store.RequestKey{})
		return tolerate(err)
	})
}

// sayAgain has the gateway report of a payment unasked, which it may have done
// before, or before we have heard its answer.
func (y *years) sayAgain(p *process) {
	if len(y.earlier.Ledger) == 0 {
		return
	}
	line := pick(y.w, y.earlier.Ledger)
	if y.w.chance(70) { // of late
		line = pick(y.w, y.earlier.Ledger[len(y.earlier.Ledger)*9/10:])
	}
	if line.State != sandbox.StateApproved && line.State != sandbox.StateDeclined {
		return
	}
	y.work(p, "notification", func(ctx context.Context) error {
		setup, err := p.app.Checkout.SetupOf(ctx, uuid.MustParse(line.Tenant))
		if err != nil {
			return err
		}
		account := uuid.MustParse(line.Gateway)
		client, _, err := p.app.Checkout.Account(setup, account)
		if err != nil {
			return err
		}
		said, speaks, err := client.Announce(ctx, line.MerchantTransactionID, y.w.serviceNow())
		if err != nil || !speaks {
			return err
		}
		_, err = p.app.Checkout.Notify(ctx, account, said)
		return err
	})
}
