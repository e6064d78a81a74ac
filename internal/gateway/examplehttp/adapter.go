// Package examplehttp is the template for gateways behind a network: copy it,
// and the sandbox for what it lacks. Its provider does not exist; tests play it
// (server_test.go). No program lists it.
//
// The construction and the flow are here, the provider's HTTP in client.go, its
// words in mapping.go, its calls to us in notification.go. What an error means
// is not decided here: gateway.HTTP says when nothing was sent, and whatever
// cannot be read surely is handed on as an error, which leaves the outcome
// unknown. An answer decides only where it leaves no doubt.
package examplehttp

import (
	"context"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// Name is how a resource file would call this adapter.
const Name = "examplehttp"

const (
	settingAddress = "base_url"
	settingKey     = "api_key"
	settingSecret  = "notification_secret"
)

var settings = []gateway.Setting{
	{Name: settingAddress, Type: gateway.SettingText, Required: true, Help: "Where the provider's API is."},
	{Name: settingKey, Type: gateway.SettingText, Required: true, Secret: true, Help: "The key of the account, from the provider's dashboard."},
	{Name: settingSecret, Type: gateway.SettingText, Required: true, Secret: true, Help: "What the provider signs its notifications with."},
}

// Kind describes the adapter.
func Kind(options gateway.HTTPOptions) gateway.Kind {
	return gateway.Kind{
		Name: Name, DisplayName: "Example", Real: true, Currencies: []string{"EUR"}, Settings: settings,
		New: func(_ gateway.Account, values gateway.Values) (gateway.Adapter, error) {
			http, err := gateway.NewHTTP(values.Text(settingAddress), options)
			if err != nil {
				return nil, &gateway.SettingError{Setting: settingAddress, Sentence: err.Error()}
			}
			return &Adapter{
				client: client{http: http, key: values.Text(settingKey)}, secret: values.Text(settingSecret),
			}, nil
		},
	}
}

// Adapter is the provider as one account sees it.
type Adapter struct {
	client client
	secret string
}

// Submit hands a payment over. The provider keeps the idempotency key, so that
// the same payment again gets the answer of the first.
func (a *Adapter) Submit(ctx context.Context, charge gateway.Charge) (payment.Outcome, error) {
	return a.client.send(ctx, "payments", charge.IdempotencyKey, newPaymentBody(charge))
}

// Verify hands over what the payer brought back from the bank.
func (a *Adapter) Verify(ctx context.Context, v gateway.Verification) (payment.Outcome, error) {
	outcome, err := a.client.send(ctx, paymentPath(v.MerchantTransactionID, "confirmation"), "", confirmationBody{v.VerificationReference})
	if isMissing(err) {
		return payment.Outcome{}, gateway.ErrUnknownVerification
	}
	return outcome, err
}

// Status asks what became of a payment or a refund. The provider surely never
// got what it does not know by our reference, and keeps it for as long as we ask:
// of one that forgets, "not known" would be an error, for the payment would be
// made again.
func (a *Adapter) Status(ctx context.Context, l gateway.Lookup) (payment.Outcome, error) {
	ask := a.client.ask
	path := paymentPath(l.MerchantTransactionID)
	if l.Abandon {
		path = paymentPath(l.MerchantTransactionID, "cancellation")
		ask = func(ctx context.Context, path string) (payment.Outcome, error) {
			return a.client.send(ctx, path, "", nil)
		}
	}
	outcome, err := ask(ctx, path)
	if isMissing(err) {
		return payment.Outcome{Verdict: payment.VerdictLost}, nil
	}
	return outcome, err
}

// Refund gives a payment back, wholly or in part.
func (a *Adapter) Refund(ctx context.Context, r gateway.Refund) (payment.Outcome, error) {
	return a.client.send(ctx, paymentPath(r.PaymentID, "refunds"), r.IdempotencyKey, refundBody{
		Reference: r.MerchantTransactionID, Amount: int64(r.AmountMinor), Currency: r.Currency,
	})
}
