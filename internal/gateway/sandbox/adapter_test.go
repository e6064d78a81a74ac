package sandbox_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/gateway/gatewaytest"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
)

const publicURL = "https://pay.example"

func TestConformance(t *testing.T) {
	t.Parallel()
	gatewaytest.Run(t, gatewaytest.Suite{
		Open: func(*testing.T) gatewaytest.Gateway {
			// Slow is never fast enough here, so that it stands for hanging.
			return open(sandbox.Options{PublicURL: publicURL, SlowFor: time.Hour, GiveUpAfter: time.Microsecond})
		},
		Approved: ibanFor(sandbox.Approved),
		Declines: []gatewaytest.Decline{
			{IBAN: ibanFor(sandbox.DeclinedInsufficientFunds), Code: payment.InsufficientFunds, GatewayCode: "AM04"},
			{IBAN: ibanFor(sandbox.DeclinedInvalidIBAN), Code: payment.InvalidIBAN, GatewayCode: "AC01"},
			{IBAN: ibanFor(sandbox.DeclinedMandateRejected), Code: payment.MandateRejected, GatewayCode: "MD01"},
			{IBAN: ibanFor(sandbox.DeclinedAccountClosed), Code: payment.AccountClosed, GatewayCode: "AC04"},
			{IBAN: ibanFor(sandbox.DeclinedDoNotHonor), Code: payment.DoNotHonor, GatewayCode: "MS03"},
			{IBAN: ibanFor(sandbox.DeclinedUnknown), Code: payment.DeclineUnknown, GatewayCode: "NARR"},
			{IBAN: ibanFor(sandbox.DeclinedFinal), Code: payment.DoNotHonor, GatewayCode: "FRAD", Final: true},
		},
		Verification: gatewaytest.Verification{
			Approved: ibanFor(sandbox.VerificationApproved), Rejected: ibanFor(sandbox.VerificationRejected),
			Undecided: ibanFor(sandbox.VerificationPage),
		},
		Pending:     gatewaytest.Pending{Approved: ibanFor(sandbox.PendingApproved), Declined: ibanFor(sandbox.PendingDeclined)},
		Status:      gatewaytest.Status{Approved: ibanFor(sandbox.TimeoutApproved), Lost: ibanFor(sandbox.TimeoutLost)},
		Unreachable: ibanFor(sandbox.GatewayUnavailable),
		Hanging:     ibanFor(sandbox.Slow),
		Refunded:    ibanFor(sandbox.Approved),
		Notify: func(t *testing.T, g gatewaytest.Gateway, merchantTransactionID string) gateway.Notification {
			return announce(t, g, merchantTransactionID, gatewaytest.At.Add(48*time.Hour))
		},
		Lacks: map[gatewaytest.Part]string{
			gatewaytest.PartMalformed: "the sandbox has no wire on which an answer could be garbled",
		},
	})
}

// open makes a sandbox with a ledger of its own.
func open(options sandbox.Options) gatewaytest.Gateway {
	ledger := newWitness()
	return gatewaytest.Gateway{
		Kind: sandbox.Kind(ledger, options), Account: newAccount(),
		Debits: func(_ *testing.T, merchantTransactionID string) int { return ledger.debits(merchantTransactionID) },
	}
}

func newAccount() gateway.Account {
	return gateway.Account{ID: uuid.New(), TenantID: uuid.New(), Name: "Sandbox gateway", TestMode: true}
}

// witness is a ledger that counts every collection when it happens: the entries
// themselves could not show that one was collected twice.
type witness struct {
	*sandbox.MemoryLedger
	mu        sync.Mutex
	collected map[string]int
}

func newWitness() *witness {
	return &witness{MemoryLedger: sandbox.NewMemoryLedger(), collected: map[string]int{}}
}

func (w *witness) Insert(ctx context.Context, e sandbox.Entry) (sandbox.Entry, bool, error) {
	stored, inserted, err := w.MemoryLedger.Insert(ctx, e)
	if inserted && stored.Collected() {
		w.count(e.Key)
	}
	return stored, inserted, err
}

func (w *witness) Decide(ctx context.Context, key sandbox.Key, from, to sandbox.State, at time.Time) (bool, error) {
	moved, err := w.MemoryLedger.Decide(ctx, key, from, to, at)
	if moved && to == sandbox.StateApproved {
		w.count(key)
	}
	return moved, err
}

func (w *witness) count(key sandbox.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collected[key.MerchantTransactionID]++
}

func (w *witness) debits(merchantTransactionID string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.collected[merchantTransactionID]
}

func keyOf(account gateway.Account, merchantTransactionID string) sandbox.Key {
	return sandbox.Key{TenantID: account.TenantID, AccountID: account.ID, MerchantTransactionID: merchantTransactionID}
}

// ibanFor gives the first test account with an outcome.
func ibanFor(outcome sandbox.Outcome) string {
	for _, test := range sandbox.TestIBANs() {
		if test.Outcome == outcome {
			return test.IBAN
		}
	}
	return ""
}

// newAdapter makes the adapter without the client around it.
func newAdapter(t *testing.T, ledger sandbox.Ledger, account gateway.Account) (made *sandbox.Adapter) {
	t.Helper()
	kind := sandbox.Kind(ledger, sandbox.Options{PublicURL: publicURL + "/"})
	inner := kind.New
	kind.New = func(account gateway.Account, values gateway.Values) (gateway.Adapter, error) {
		adapter, err := inner(account, values)
		made = adapter.(*sandbox.Adapter)
		return adapter, err
	}
	if _, err := gateway.NewClient(kind, account, gateway.Options{}); err != nil {
		t.Fatal(err)
	}
	return made
}
