package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/gateway/gatewaytest"
	"sepad/internal/payment"
)

const iban = "DE89370400440532013000"

// scripted is an adapter with every ability that answers as it is told.
type scripted struct {
	answer func(ctx context.Context, charge gateway.Charge) (payment.Outcome, error)
	calls  int
}

func (s *scripted) Submit(ctx context.Context, charge gateway.Charge) (payment.Outcome, error) {
	s.calls++
	return s.answer(ctx, charge)
}

func (s *scripted) Verify(ctx context.Context, _ gateway.Verification) (payment.Outcome, error) {
	return s.Submit(ctx, gateway.Charge{})
}

func (s *scripted) Status(ctx context.Context, _ gateway.Lookup) (payment.Outcome, error) {
	return s.Submit(ctx, gateway.Charge{})
}

// submitOnly hides all abilities but the first.
type submitOnly struct{ gateway.Adapter }

type bundle struct {
	*gateway.Client
	adapter  *scripted
	log      *bytes.Buffer
	observed []string
}

// setup puts a client around an adapter that always answers the same.
func setup(t *testing.T, outcome payment.Outcome, err error) *bundle {
	t.Helper()
	return setupWith(t, func(context.Context, gateway.Charge) (payment.Outcome, error) { return outcome, err })
}

func setupWith(t *testing.T, answer func(context.Context, gateway.Charge) (payment.Outcome, error)) *bundle {
	t.Helper()
	b := &bundle{adapter: &scripted{answer: answer}, log: &bytes.Buffer{}}
	b.Client = b.newClient(t, b.adapter)
	return b
}

func (b *bundle) newClient(t *testing.T, adapter gateway.Adapter) *gateway.Client {
	t.Helper()
	client, err := gateway.NewClient(kindOf(adapter), gateway.Account{ID: uuid.New()}, gateway.Options{
		Logger: slog.New(slog.NewJSONHandler(b.log, nil)),
		Observe: func(adapter, operation, verdict string, took time.Duration) {
			b.observed = append(b.observed, fmt.Sprint(adapter, " ", operation, " ", verdict, " ", took))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func kindOf(adapter gateway.Adapter) gateway.Kind {
	return gateway.Kind{
		Name: "scripted", Real: true, Settings: []gateway.Setting{{Name: "api_key", Type: gateway.SettingText, Secret: true}},
		New: func(gateway.Account, gateway.Values) (gateway.Adapter, error) { return adapter, nil },
	}
}

// ask makes the same call for each operation.
func (b *bundle) ask(t *testing.T, operation string) (payment.Outcome, error) {
	t.Helper()
	switch ctx := context.Background(); operation {
	case "verify":
		return b.Verify(ctx, gateway.Verification{MerchantTransactionID: "TXN-1"})
	case "status":
		return b.Status(ctx, gateway.Lookup{MerchantTransactionID: "TXN-1"})
	default:
		return b.Submit(ctx, gatewaytest.NewCharge(t, iban))
	}
}

var operations = []string{"submit", "verify", "status"}

func TestAdapterFaultsAreUnknownOutcomes(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		outcome payment.Outcome
		err     error
	}{
		"an error":                       {err: errors.New("connection reset")},
		"no verdict":                     {},
		"a verdict that nobody knows":    {outcome: payment.Outcome{Verdict: "perhaps"}},
		"unsent as a verdict of its own": {outcome: payment.Outcome{Verdict: payment.VerdictUnsent}},
		"an approval with an error":      {outcome: payment.Outcome{Verdict: payment.VerdictApproved}, err: http.ErrHandlerTimeout},
	} {
		for _, operation := range operations {
			t.Run(operation+" answered with "+name, func(t *testing.T) {
				t.Parallel()
				b := setup(t, fault.outcome, fault.err)
				outcome, err := b.ask(t, operation)
				if !errors.Is(err, gateway.ErrUnknownOutcome) || outcome != (payment.Outcome{}) {
					t.Errorf("gave %+v, %v", outcome, err)
				}
			})
		}
	}
	t.Run("a payment just handed over cannot be lost", func(t *testing.T) {
		t.Parallel()
		for _, operation := range operations[:2] {
			b := setup(t, payment.Outcome{Verdict: payment.VerdictLost}, nil)
			if _, err := b.ask(t, operation); !errors.Is(err, gateway.ErrUnknownOutcome) {
				t.Errorf("%s gave error %v", operation, err)
			}
		}
	})
	t.Run("a panic is an unknown outcome and tells nothing personal", func(t *testing.T) {
		t.Parallel()
		b := setupWith(t, func(_ context.Context, charge gateway.Charge) (payment.Outcome, error) {
			panic("cannot debit " + charge.Instrument.IBAN.Electronic() + " of " + charge.Instrument.HolderName)
		})
		_, err := b.ask(t, "submit")
		if !errors.Is(err, gateway.ErrUnknownOutcome) || !strings.Contains(err.Error(), "cannot debit") {
			t.Fatalf("gave error %v", err)
		}
		for _, secret := range []string{"370400440532013000", "Xanthopoulos"} {
			if strings.Contains(err.Error()+b.log.String(), secret) {
				t.Errorf("told %q", secret)
			}
		}
	})
}

func TestVerificationsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	t.Run("a verification that leads nowhere is an unknown outcome", func(t *testing.T) {
		t.Parallel()
		for _, address := range []string{"", "bank.example/verify", "javascript:alert(1)", "https://", "http://a b/"} {
			b := setup(t, payment.Outcome{Verdict: payment.VerdictVerify, VerificationURL: address}, nil)
			if o, err := b.ask(t, "submit"); !errors.Is(err, gateway.ErrUnknownOutcome) {
				t.Errorf("%q gave %+v, %v", address, o, err)
			}
		}
	})
	t.Run("a verification that the adapter cannot finish is an unknown outcome", func(t *testing.T) {
		t.Parallel()
		b := setup(t, payment.Outcome{Verdict: payment.VerdictVerify, VerificationURL: "https://bank.example/"}, nil)
		b.Client = b.newClient(t, submitOnly{b.adapter})
		if o, err := b.ask(t, "submit"); !errors.Is(err, gateway.ErrUnknownOutcome) {
			t.Errorf("gave %+v, %v", o, err)
		}
	})
}

func TestOutcomesAreNormalised(t *testing.T) {
	t.Parallel()
	settles := gatewaytest.At.Add(time.Hour)
	full := payment.Outcome{
		GatewayReference: "REF-1", Final: true, SettlesAt: settles,
		Decline:         payment.Decline{Code: payment.AccountClosed, GatewayCode: "AC04", GatewayMessage: "closed"},
		VerificationURL: "https://bank.example/1", VerificationReference: "V-1",
	}
	with := func(verdict payment.Verdict) payment.Outcome { o := full; o.Verdict = verdict; return o }
	for verdict, want := range map[payment.Verdict]payment.Outcome{
		payment.VerdictApproved: {Verdict: payment.VerdictApproved, GatewayReference: "REF-1"},
		payment.VerdictPending:  {Verdict: payment.VerdictPending, GatewayReference: "REF-1", SettlesAt: settles},
		payment.VerdictDeclined: {Verdict: payment.VerdictDeclined, GatewayReference: "REF-1", Final: true, Decline: full.Decline},
		payment.VerdictVerify: {
			Verdict: payment.VerdictVerify, GatewayReference: "REF-1",
			VerificationURL: "https://bank.example/1", VerificationReference: "V-1",
		},
	} {
		t.Run("what does not belong to "+string(verdict)+" is dropped", func(t *testing.T) {
			t.Parallel()
			if got, err := setup(t, with(verdict), nil).ask(t, "submit"); err != nil || got != want {
				t.Errorf("gave %+v, %v", got, err)
			}
		})
	}
	t.Run("a decline without a known code is an unknown decline", func(t *testing.T) {
		t.Parallel()
		for _, code := range []payment.DeclineCode{"", "card_stolen"} {
			o, err := setup(t, payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: code}}, nil).ask(t, "submit")
			if err != nil || o.Decline.Code != payment.DeclineUnknown {
				t.Errorf("%q became %q, %v", code, o.Decline.Code, err)
			}
		}
	})
	t.Run("a reference that cannot be kept is dropped and the verdict stays", func(t *testing.T) {
		t.Parallel()
		for _, reference := range []string{"nul\x00", "bad\xff", strings.Repeat("x", 256)} {
			o, err := setup(t, payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: reference}, nil).ask(t, "status")
			if err != nil || o.Verdict != payment.VerdictApproved || o.GatewayReference != "" {
				t.Errorf("%q gave %+v, %v", reference, o, err)
			}
		}
	})
	t.Run("later answers may leave the verification's address out", func(t *testing.T) {
		t.Parallel()
		for _, operation := range operations[1:] {
			if o, err := setup(t, payment.Outcome{Verdict: payment.VerdictVerify}, nil).ask(t, operation); err != nil || o.Verdict != payment.VerdictVerify {
				t.Errorf("%s gave %+v, %v", operation, o, err)
			}
		}
	})
}

func TestNothingSent(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("dial tcp 192.0.2.1:443: %w", gateway.ErrNotSent)
	t.Run("a payment or verification that was not sent is unsent", func(t *testing.T) {
		t.Parallel()
		for _, operation := range operations[:2] {
			o, err := setup(t, payment.Outcome{}, refused).ask(t, operation)
			if err != nil || o.Verdict != payment.VerdictUnsent || o.Decline.Code != payment.GatewayUnavailable {
				t.Errorf("%s gave %+v, %v", operation, o, err)
			}
		}
	})
	t.Run("a question that was not sent says nothing about the payment", func(t *testing.T) {
		t.Parallel()
		o, err := setup(t, payment.Outcome{}, refused).ask(t, "status")
		if !errors.Is(err, gateway.ErrUnknownOutcome) || o.Verdict != "" {
			t.Errorf("gave %+v, %v", o, err)
		}
	})
	t.Run("a payment is not sent when its time is over", func(t *testing.T) {
		t.Parallel()
		b := setup(t, payment.Outcome{Verdict: payment.VerdictApproved}, nil)
		charge := gatewaytest.NewCharge(t, iban)
		charge.SendBefore = clock.Within(clock.Own{}, 0)
		if o, err := b.Submit(context.Background(), charge); err != nil || o.Verdict != payment.VerdictUnsent || b.adapter.calls != 0 {
			t.Errorf("gave %+v, %v after %d calls", o, err, b.adapter.calls)
		}
		charge.SendBefore = clock.Within(clock.Own{}, time.Hour)
		if o, err := b.Submit(context.Background(), charge); err != nil || o.Verdict != payment.VerdictApproved {
			t.Errorf("gave %+v, %v in time", o, err)
		}
	})
}

func TestCall(t *testing.T) {
	t.Parallel()
	t.Run("a caller that goes away does not stop a submission", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		b := setupWith(t, func(ctx context.Context, _ gateway.Charge) (payment.Outcome, error) {
			cancel()
			return payment.Outcome{Verdict: payment.VerdictApproved}, ctx.Err()
		})
		if o, err := b.Submit(ctx, gatewaytest.NewCharge(t, iban)); err != nil || o.Verdict != payment.VerdictApproved {
			t.Errorf("gave %+v, %v", o, err)
		}
	})
	t.Run("a call ends at its timeout, 30 seconds by default", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setupWith(t, func(ctx context.Context, _ gateway.Charge) (payment.Outcome, error) {
				<-ctx.Done()
				return payment.Outcome{}, ctx.Err()
			})
			_, err := b.ask(t, "submit")
			if !errors.Is(err, gateway.ErrUnknownOutcome) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("gave error %v", err)
			}
			if want := "scripted submit unknown 30s"; b.observed[0] != want {
				t.Errorf("observed %q, want %q", b.observed[0], want)
			}
		})
	})
	t.Run("the idempotency key is the payment's reference unless one is given", func(t *testing.T) {
		t.Parallel()
		var keys []string
		b := setupWith(t, func(_ context.Context, charge gateway.Charge) (payment.Outcome, error) {
			keys = append(keys, charge.IdempotencyKey)
			return payment.Outcome{Verdict: payment.VerdictApproved}, nil
		})
		charge := gatewaytest.NewCharge(t, iban)
		b.Submit(context.Background(), charge)
		charge.IdempotencyKey = "key-of-the-caller"
		b.Submit(context.Background(), charge)
		if keys[0] != charge.MerchantTransactionID || keys[1] != "key-of-the-caller" {
			t.Errorf("sent %q", keys)
		}
	})
}

func TestAbilities(t *testing.T) {
	t.Parallel()
	t.Run("a wrong verification reference is passed on as such", func(t *testing.T) {
		t.Parallel()
		b := setup(t, payment.Outcome{}, fmt.Errorf("404: %w", gateway.ErrUnknownVerification))
		_, err := b.ask(t, "verify")
		if !errors.Is(err, gateway.ErrUnknownVerification) || errors.Is(err, gateway.ErrUnknownOutcome) {
			t.Errorf("gave error %v", err)
		}
		if _, err := b.ask(t, "submit"); !errors.Is(err, gateway.ErrUnknownOutcome) {
			t.Errorf("a submission gave error %v", err)
		}
	})
	t.Run("abilities are found, and what is lacking is refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, payment.Outcome{Verdict: payment.VerdictApproved}, nil)
		if !b.CanVerify() || !b.CanReadStatus() {
			t.Error("abilities of the adapter were not found")
		}
		b.Client = b.newClient(t, submitOnly{b.adapter})
		if b.CanVerify() || b.CanReadStatus() {
			t.Error("abilities were found that the adapter has not")
		}
		for _, operation := range operations[1:] {
			if _, err := b.ask(t, operation); !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, gateway.ErrUnknownOutcome) {
				t.Errorf("%s gave error %v", operation, err)
			}
		}
	})
	t.Run("an account that the adapter refuses is an error", func(t *testing.T) {
		t.Parallel()
		kind := gateway.Kind{New: func(gateway.Account, gateway.Values) (gateway.Adapter, error) {
			return nil, errors.New("api_key is missing")
		}}
		if _, err := gateway.NewClient(kind, gateway.Account{}, gateway.Options{}); err == nil || !strings.Contains(err.Error(), "api_key is missing") {
			t.Errorf("gave error %v", err)
		}
	})
}

func TestLogLine(t *testing.T) {
	t.Parallel()
	b := setup(t, payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.AccountClosed}}, nil)
	charge := gatewaytest.NewCharge(t, iban)
	b.Submit(context.Background(), charge)
	var line map[string]any
	if err := json.Unmarshal(b.log.Bytes(), &line); err != nil {
		t.Fatalf("not one line: %v", err)
	}
	for name, want := range map[string]any{
		"msg": "gateway call", "level": "INFO", "adapter": "scripted", "operation": "submit",
		"merchant_transaction_id": charge.MerchantTransactionID, "verdict": "declined", "decline_code": "account_closed",
	} {
		if line[name] != want {
			t.Errorf("%s is %v, want %v", name, line[name], want)
		}
	}
	for _, name := range []string{"account_id", "duration_ms"} {
		if _, there := line[name]; !there {
			t.Errorf("%s is missing", name)
		}
	}
}
