package sepad_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	sepad "sepad/sdk/go"
	"sepad/sdk/go/sepadtest"
)

// service is a real one, which the project's tests start and name.
type service struct {
	*sepad.Client
	address, admin, campaign, monthly string
}

func open(t *testing.T) service {
	t.Helper()
	address := os.Getenv("SEPAD_SDK_ADDRESS")
	if address == "" {
		t.Skip("SEPAD_SDK_ADDRESS names no service; the project's tests do")
	}
	return service{
		Client: sepad.New(address, os.Getenv("SEPAD_SDK_KEY")), address: address, admin: os.Getenv("SEPAD_SDK_ADMIN"),
		campaign: os.Getenv("SEPAD_SDK_CAMPAIGN"), monthly: os.Getenv("SEPAD_SDK_MONTHLY"),
	}
}

var customers = time.Now().UnixNano()

func lead() sepad.Lead {
	customers++
	return sepad.Lead{FirstName: "Ada", LastName: "Keller", Email: time.Unix(0, customers).Format("20060102150405.000000000") + "@shop.example", Country: "DE"}
}

func (s service) session(t *testing.T, campaign string) sepad.CreatedSession {
	t.Helper()
	created, err := s.CreateSession(t.Context(), sepad.SessionRequest{
		CampaignID: campaign, Lead: lead(), SessionOptions: sepad.SessionOptions{Metadata: map[string]string{"cart": "4711"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func (s service) pay(t *testing.T, campaign, iban string) (string, sepad.Result) {
	t.Helper()
	token := s.session(t, campaign).SessionToken
	result, err := s.Pay(t.Context(), token, sepad.PayRequest{IBAN: iban, HolderName: "Ada Keller"})
	if err != nil {
		t.Fatal(err)
	}
	return token, result
}

func (s service) advance(t *testing.T, by time.Duration) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"advance": by.String()})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+"/admin/v1/clock/", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.admin)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	_ = response.Body.Close()
}

func TestAPurchaseFromBeginningToEnd(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	token, paid := s.pay(t, s.monthly, sepadtest.Approved)
	if paid.Status != sepad.Completed || paid.Subscription == nil || paid.PaymentMethod.IBANLast4 != "3000" {
		t.Fatalf("paid: %+v", paid)
	}
	if known, err := s.Result(ctx, token); err != nil || known.Metadata["cart"] != "4711" || known.Transaction.ID != paid.Transaction.ID || len(known.Attempts) != 1 {
		t.Errorf("result: %+v, %v", known, err)
	}
	refund, err := s.Refund(ctx, paid.Transaction.ID, sepad.RefundRequest{Amount: "10.00"})
	if err != nil || refund.RefundOf != paid.Transaction.ID || refund.Amount != "10.00" {
		t.Errorf("refund: %+v, %v", refund, err)
	}
	if left, err := s.Transaction(ctx, paid.Transaction.ID); err != nil || left.RefundableAmount != "19.99" {
		t.Errorf("left: %+v, %v", left, err)
	}
	if _, err := s.Refund(ctx, paid.Transaction.ID, sepad.RefundRequest{Amount: "99.00"}); sepad.FieldError(err, "amount") == "" {
		t.Errorf("too much: %v", err)
	}
	sub, err := s.PauseSubscription(ctx, paid.Subscription.ID)
	if err != nil || sub.PausedAt == nil || sub.NextBillingDate != "" {
		t.Errorf("paused: %+v, %v", sub, err)
	}
	if _, err := s.ResumeSubscription(ctx, sub.ID); err != nil {
		t.Error(err)
	}
	if sub, err = s.ChangeSubscription(ctx, sub.ID, sepad.Terms{Amount: "34.99"}); err != nil || sub.BillingAmount != "34.99" {
		t.Errorf("changed: %+v, %v", sub, err)
	}
	another, err := s.NewMandate(ctx, sub.ID, sepad.SessionOptions{Language: "de"})
	if err != nil {
		t.Fatal(err)
	}
	given, err := s.Pay(ctx, another.SessionToken, sepad.PayRequest{IBAN: sepadtest.ApprovedAustrian, HolderName: "Ada Keller"})
	if err != nil || given.Amount != "0.00" || given.Subscription.ID != sub.ID {
		t.Errorf("another account: %+v, %v", given, err)
	}
	if sub, err = s.Subscription(ctx, sub.ID); err != nil || sub.MandateReferenceID != given.SEPA.MandateReference {
		t.Errorf("with another mandate: %+v, %v", sub, err)
	}
	if sub, err = s.CancelSubscription(ctx, sub.ID, sepad.PeriodEnd); err != nil || sub.EndsOn == "" {
		t.Errorf("ending: %+v, %v", sub, err)
	}
	if _, err := s.Mandate(ctx, sub.MandateReferenceID); sepad.StatusOf(err) != http.StatusNotFound {
		t.Errorf("evidence of a form of our own: %v", err)
	}
}

func TestRefusalsAndVerification(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	if _, err := s.CreateSession(ctx, sepad.SessionRequest{CampaignID: s.campaign}); sepad.FieldError(err, "lead.email") == "" {
		t.Errorf("without a lead: %v", err)
	}
	token, declined := s.pay(t, s.campaign, sepadtest.DeclinedInsufficientFunds)
	if declined.Status != sepad.Declined || !declined.RetryAllowed || declined.ErrorDetails.Code != "insufficient_funds" {
		t.Errorf("declined: %+v", declined)
	}
	if session, err := s.Session(ctx, token); err != nil || session.Status != "PENDING" || session.Offer.Name == "" {
		t.Errorf("session: %+v, %v", session, err)
	}
	if err := s.CancelSession(ctx, token); err != nil {
		t.Error(err)
	}
	if _, err := s.Pay(ctx, token, sepad.PayRequest{IBAN: sepadtest.Approved, HolderName: "Ada"}); sepad.StatusOf(err) != http.StatusGone {
		t.Errorf("paid when it was over: %v", err)
	}
	token, awaiting := s.pay(t, s.campaign, sepadtest.VerificationApproved)
	if awaiting.Status != sepad.AwaitingVerification || awaiting.VerificationURL == "" {
		t.Errorf("awaiting: %+v", awaiting)
	}
	if verified, err := s.Verify(ctx, token, ""); err != nil || verified.Status != sepad.Completed {
		t.Errorf("verified: %+v, %v", verified, err)
	}
	if check, err := s.ValidateIBAN(ctx, sepadtest.Approved); err != nil || !check.Valid || check.BIC == "" {
		t.Errorf("an IBAN: %+v, %v", check, err)
	}
	if check, err := s.ValidateIBAN(ctx, "DE00"); err != nil || check.Valid || check.Error == "" {
		t.Errorf("no IBAN: %+v, %v", check, err)
	}
}

func TestListsAreWalked(t *testing.T) {
	s := open(t)
	for range 3 {
		s.pay(t, s.campaign, sepadtest.Approved)
	}
	today := sepad.Days{From: time.Now().AddDate(0, 0, -1), PageSize: 2}
	ids := map[string]bool{}
	for record, err := range s.Transactions(t.Context(), today) {
		if err != nil {
			t.Fatal(err)
		}
		if ids[record.ID] {
			t.Errorf("%s comes twice", record.ID)
		}
		ids[record.ID] = true
	}
	today.ByUpdate = true
	for record, err := range s.Transactions(t.Context(), today) {
		if err != nil {
			t.Fatal(err)
		}
		delete(ids, record.ID)
	}
	if len(ids) != 0 {
		t.Errorf("in the order of changes %d are missing", len(ids))
	}
	seen := 0
	for session, err := range s.Sessions(t.Context(), sepad.SessionFilter{Statuses: []string{"COMPLETED"}, PageSize: 1}) {
		if err != nil || session.Status != "COMPLETED" {
			t.Fatal(session, err)
		}
		if seen++; seen == 3 {
			break
		}
	}
	if seen != 3 {
		t.Errorf("%d sessions are found", seen)
	}
	for _, err := range s.Transactions(t.Context(), sepad.Days{}) {
		if sepad.FieldError(err, "start_date") == "" {
			t.Errorf("without a day: %v", err)
		}
	}
}

// read reads a feed until there is nothing more, or some events are read.
func read(t *testing.T, feed *sepad.Feed, most int) (ids []string) {
	t.Helper()
	for event, err := range feed.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, event.ID); len(ids) == most {
			return ids
		}
	}
	return ids
}

func TestAShopThatWasOfflineForADayCatchesUp(t *testing.T) {
	s := open(t)
	s.pay(t, s.campaign, sepadtest.Approved)
	feed := s.Events("")
	known := read(t, feed, 0)
	place := feed.Place() // the shop goes offline here

	var tokens []string
	for _, iban := range []string{sepadtest.Approved, sepadtest.PendingApproved, sepadtest.PendingDeclined, sepadtest.Chargeback} {
		token, _ := s.pay(t, s.monthly, iban)
		tokens = append(tokens, token)
	}
	s.advance(t, 25*time.Hour)
	s.advance(t, 72*time.Hour)

	// It comes back, and is killed again and again while it catches up: all that it has
	// is the place that it kept with the last event that it handled.
	var caught []string
	for size := 1; ; size = size%5 + 1 {
		again := s.Events(place)
		again.PageSize = size
		part := read(t, again, 3)
		if place = again.Place(); len(part) == 0 {
			break
		}
		caught = append(caught, part...)
	}
	all := read(t, s.Events(""), 0)
	if !slices.Equal(all, append(known, caught...)) || len(caught) < 10 {
		t.Errorf("%d events are known, %d caught up with, and there are %d", len(known), len(caught), len(all))
	}
	completed := map[string]int{}
	for event, err := range s.Events("").All(t.Context()) {
		var told sepad.SessionEvent
		if err != nil || event.Decode(&told) != nil {
			t.Fatal(err)
		}
		if event.Type == "payment_session.completed" {
			completed[told.SessionToken]++
		}
	}
	for _, token := range tokens {
		if completed[token] != 1 {
			t.Errorf("a completed session was told %d times", completed[token])
		}
	}
	if more := read(t, s.Events(place), 0); len(more) != 0 {
		t.Errorf("%d events come twice", len(more))
	}
}
