package gatewaytest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// At is when the suite's payments are submitted, on the service's clock.
var At = time.Date(2026, time.March, 2, 9, 30, 0, 0, time.UTC)

// hangLimit is the real time that a call may take in the suite; an account in
// Hanging gets no answer within it.
const hangLimit = 200 * time.Millisecond

// NewCharge is a payment of 29.99 EUR from an account, with a payer whose data
// are easily found where they do not belong.
func NewCharge(t *testing.T, iban string) gateway.Charge {
	t.Helper()
	parsed, err := sepa.ParseIBAN(iban)
	if err != nil {
		t.Fatalf("an account of the suite is no IBAN: %v", err)
	}
	return gateway.Charge{
		MerchantTransactionID: payment.NewMerchantTransactionID(At),
		AmountMinor:           29_99, Currency: "EUR", Type: payment.Sale, SequenceType: payment.SequenceFirst,
		Instrument: payment.Instrument{IBAN: parsed, HolderName: "Wilhelmine Xanthopoulos"},
		Lead: payment.Lead{
			ID: uuid.New(), FirstName: "Wilhelmine", LastName: "Xanthopoulos", Email: "wilhelmine@quittenweg.example",
			Country: "DE", Address: "Quittenweg 77", City: "Oberquell", PostalCode: "98765", Phone: "+49 30 5550199",
		},
		MandateReference: payment.NewMandateReference(), MandateAt: At, Descriptor: "DEMO SHOP", MerchantName: "Demo Shop",
		CustomerIP: "203.0.113.77", ReturnURL: "https://shop.example/back", At: At,
	}
}

// personal lists the texts that must not turn up anywhere.
func personal(charge gateway.Charge) []string {
	iban := charge.Instrument.IBAN.Electronic()
	return []string{
		iban, iban[4:], charge.Instrument.HolderName, charge.Lead.FirstName, charge.Lead.LastName, charge.Lead.Email,
		charge.Lead.Address, charge.Lead.City, charge.Lead.PostalCode, charge.Lead.Phone, charge.CustomerIP,
	}
}

// bench is an opened gateway behind a client, with its log.
type bench struct {
	Gateway
	client *gateway.Client
	log    *logBuffer
}

func (s Suite) open(t *testing.T, timeout time.Duration) bench {
	t.Helper()
	return newBench(t, s.Open(t), timeout)
}

func newBench(t *testing.T, g Gateway, timeout time.Duration) bench {
	t.Helper()
	b := bench{Gateway: g, log: &logBuffer{}}
	client, err := gateway.NewClient(b.Kind, b.Account, gateway.Options{
		Timeout: timeout, Logger: slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatalf("making the adapter: %v", err)
	}
	b.client = client
	return b
}

// submit expects a known outcome.
func (b bench) submit(t *testing.T, charge gateway.Charge) payment.Outcome {
	t.Helper()
	outcome, err := b.client.Submit(context.Background(), charge)
	if err != nil {
		t.Fatalf("submitting: %v", err)
	}
	return outcome
}

// submitUnknown expects that the outcome is not known.
func (b bench) submitUnknown(t *testing.T, charge gateway.Charge) error {
	t.Helper()
	outcome, err := b.client.Submit(context.Background(), charge)
	if !errors.Is(err, gateway.ErrUnknownOutcome) {
		t.Fatalf("submitting gave %q and error %v, want an unknown outcome", outcome.Verdict, err)
	}
	return err
}

func (b bench) verify(t *testing.T, charge gateway.Charge, reference string) payment.Outcome {
	t.Helper()
	outcome, err := b.client.Verify(context.Background(), gateway.Verification{
		MerchantTransactionID: charge.MerchantTransactionID, VerificationReference: reference, At: At.Add(time.Minute),
	})
	if err != nil {
		t.Fatalf("verifying: %v", err)
	}
	return outcome
}

func (b bench) status(t *testing.T, lookup gateway.Lookup) payment.Outcome {
	t.Helper()
	outcome, err := b.client.Status(context.Background(), lookup)
	if err != nil {
		t.Fatalf("asking for the status: %v", err)
	}
	return outcome
}

func (b bench) wantDebits(t *testing.T, charge gateway.Charge, want int) {
	t.Helper()
	if got := b.Debits(t, charge.MerchantTransactionID); got != want {
		t.Errorf("the gateway collected the payment %d times, want %d", got, want)
	}
}

func wantVerdict(t *testing.T, o payment.Outcome, want payment.Verdict) {
	t.Helper()
	if o.Verdict != want {
		t.Fatalf("verdict %q, want %q (decline %+v)", o.Verdict, want, o.Decline)
	}
}

// logBuffer collects a log that several goroutines may write.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
