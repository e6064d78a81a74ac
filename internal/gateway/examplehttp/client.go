package examplehttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// client speaks the provider's HTTP.
type client struct {
	http *gateway.HTTP
	key  string
}

type paymentBody struct {
	Reference string      `json:"reference"`
	Amount    int64       `json:"amount"` // in cents
	Currency  string      `json:"currency"`
	Sequence  string      `json:"sequence,omitempty"`
	IBAN      string      `json:"iban"`
	Holder    string      `json:"holder"`
	Mandate   mandateBody `json:"mandate"`
	Text      string      `json:"text,omitempty"`
	ReturnURL string      `json:"return_url,omitempty"`
}

type mandateBody struct {
	Reference string    `json:"reference"`
	SignedAt  time.Time `json:"signed_at"`
}

// newPaymentBody picks what the provider needs. The account number is spelled
// out here and nowhere else.
func newPaymentBody(c gateway.Charge) paymentBody {
	return paymentBody{
		Reference: c.MerchantTransactionID, Amount: int64(c.AmountMinor), Currency: c.Currency, Sequence: string(c.SequenceType),
		IBAN: c.Instrument.IBAN.Electronic(), Holder: c.Instrument.HolderName,
		Mandate: mandateBody{c.MandateReference, c.MandateAt}, Text: c.Descriptor, ReturnURL: c.ReturnURL,
	}
}

type confirmationBody struct {
	Action string `json:"action"`
}

type refundBody struct {
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
}

// answerBody is what the provider says of a payment or a refund.
type answerBody struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	// Reason is an ISO code, Text the bank's own words.
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Closed tells that no other try makes sense.
	Closed    bool      `json:"closed"`
	SettlesAt time.Time `json:"settles_at"`
	Action    struct {
		ID  string `json:"id"`
		URL string `json:"url"`
	} `json:"action"`
}

// paymentPath is the address of what goes by our reference, or of what is below.
func paymentPath(reference string, below ...string) string {
	path := "payments/" + url.PathEscape(reference)
	for _, name := range below {
		path += "/" + name
	}
	return path
}

// send posts what may move money.
func (c client) send(ctx context.Context, path, idempotencyKey string, body any) (payment.Outcome, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("%w: the request cannot be written", gateway.ErrNotSent)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if idempotencyKey != "" {
		header.Set("Idempotency-Key", idempotencyKey)
	}
	return c.call(ctx, gateway.Request{Method: http.MethodPost, Path: path, Header: header, Body: text})
}

// ask reads what changes nothing.
func (c client) ask(ctx context.Context, path string) (payment.Outcome, error) {
	return c.call(ctx, gateway.Request{Method: http.MethodGet, Path: path, Header: http.Header{}})
}

// errorBody is how the provider names an error.
type errorBody struct {
	Error string `json:"error"`
}

// unknownReference is its name for one: it never got what goes by our reference.
const unknownReference = "unknown_reference"

// errMissing is the provider's word that it knows nothing of the kind.
var errMissing = errors.New("examplehttp: the provider does not know it")

func isMissing(err error) bool { return errors.Is(err, errMissing) }

// call makes sense of an answer by its status. 422 is a refusal of the payment;
// what else is no success (a wrong key, too many calls, a fault over there) says
// nothing certain about the payment and is an error. Nor does a 404 by itself: a
// wrong address and whatever stands in between say it as well, of every payment.
func (c client) call(ctx context.Context, r gateway.Request) (payment.Outcome, error) {
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Accept", "application/json")
	answer, err := c.http.Do(ctx, r)
	if err != nil {
		return payment.Outcome{}, err
	}
	switch answer.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusUnprocessableEntity:
	case http.StatusNotFound:
		var body errorBody
		if json.Unmarshal(answer.Body, &body) == nil && body.Error == unknownReference {
			return payment.Outcome{}, errMissing
		}
		fallthrough
	default:
		return payment.Outcome{}, fmt.Errorf("the provider answered %d", answer.StatusCode)
	}
	var body answerBody
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		return payment.Outcome{}, errors.New("the provider's answer is no JSON object of the expected form")
	}
	return outcomeOf(body), nil
}
