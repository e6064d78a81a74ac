package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/jobs"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

const (
	sandboxPath = "/dashboard/sandbox/"
	// lastEvents is how many the corner shows.
	lastEvents = 15
)

// sandboxView is where things are tried.
type sandboxView struct {
	Accounts  []sandbox.TestIBAN
	Campaigns []choice
	// Chosen is the campaign that is paid.
	Chosen   string
	Now      time.Time
	Billing  time.Time // the next one, zero for none
	Events   []listing.DeliveryRecord
	MayMove  bool
	MayPay   bool
	Moves    []move
	Paid     uuid.UUID // a transaction that was just made
	PaidPage string    // where it is
}

// move is how far the clock goes by a click.
type move struct{ Value, Label string }

var moves = []move{{"day", "A day"}, {"week", "A week"}, {"month", "A month"}, {"billing", "To the next billing"}}

// inSandbox answers only where there is no money.
func (d *Dashboard) inSandbox(next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if d.Movable == nil {
			return web.ErrNotFound
		}
		return next(w, r)
	}
}

// showSandbox answers GET /dashboard/sandbox/.
func (d *Dashboard) showSandbox(w http.ResponseWriter, r *http.Request) error {
	shown := sandboxView{
		Accounts: sandbox.TestIBANs(), Chosen: r.URL.Query().Get("campaign"), Now: d.Movable.Now(), Moves: moves,
		MayMove: may(r, http.MethodPost, sandboxPath+"clock/"), MayPay: may(r, http.MethodPost, sandboxPath+"pay/"),
	}
	shown.Paid, _ = uuid.Parse(r.URL.Query().Get("transaction")) // none is shown as none
	if shown.Paid != uuid.Nil {
		shown.PaidPage = "/dashboard/transactions/" + shown.Paid.String() + "/"
	}
	var err error
	if shown.Campaigns, err = d.payable(r); err != nil {
		return err
	}
	if shown.MayMove { // it is of all tenants
		if shown.Billing, err = d.Store.NextBilling(r.Context()); err != nil {
			return err
		}
	}
	if shown.Events, err = listing.AllDeliveries(r.Context(), d.Store, listing.DeliveryFilter{}, listing.Paging{Limit: lastEvents}); err != nil {
		return err
	}
	return d.page(w, r, "sandbox", "Sandbox", shown)
}

// payable are the campaigns that a session can be made of.
func (d *Dashboard) payable(r *http.Request) (choices []choice, err error) {
	tenants, err := d.Store.Tenants(r.Context())
	if err != nil {
		return nil, err
	}
	for _, tenant := range tenants {
		of, err := d.Store.CurrentSetup(r.Context(), tenant.ID)
		if err != nil {
			return nil, err
		}
		for _, campaign := range sorted(of.Campaigns, func(c merchant.Campaign) string { return c.Name }) {
			_, hasOffer := of.Offer(campaign.OfferID)
			_, hasGateway := of.Gateway(campaign.GatewayID)
			if campaign.Active && hasOffer && hasGateway {
				choices = append(choices, choice{campaign.ID.String(), tenant.Name + ": " + campaign.Name})
			}
		}
	}
	return choices, nil
}

// paySandbox answers POST /dashboard/sandbox/pay/: a session is made and paid.
func (d *Dashboard) paySandbox(w http.ResponseWriter, r *http.Request) error {
	sent, err := readForm(w, r)
	if err != nil {
		return err
	}
	campaign, err := uuid.Parse(sent.Get("campaign"))
	if err != nil {
		return payment.Fields{"campaign": "Choose a campaign."}.Err()
	}
	i := slices.IndexFunc(sandbox.TestIBANs(), func(t sandbox.TestIBAN) bool { return t.IBAN == sent.Get("iban") })
	if i < 0 {
		return payment.Fields{"iban": "Choose one of the test accounts."}.Err()
	}
	result, err := d.buy(r, campaign, sandbox.TestIBANs()[i].IBAN)
	if payment.KindOf(err) == payment.OutcomeUnknown {
		return d.toSandbox(w, sent, uuid.Nil, "The gateway did not answer: the payment is asked about in the background.")
	}
	if err != nil {
		return err
	}
	said := fmt.Sprintf("%s: %s %s, %s.", result.Transaction.MerchantTransactionID, result.Transaction.AmountMinor, result.Transaction.Currency,
		strings.ReplaceAll(string(result.Status), "_", " "))
	return d.toSandbox(w, sent, result.Transaction.ID, said)
}

// buy makes a session of a campaign and pays it.
func (d *Dashboard) buy(r *http.Request, campaign uuid.UUID, iban string) (result checkout.Result, err error) {
	owner, _, found, err := d.Store.RecordOwner(r.Context(), campaign)
	if err != nil {
		return result, err
	}
	if !found {
		return result, notFound("Campaign")
	}
	of, err := d.Store.CurrentSetup(r.Context(), owner)
	if store.IsNotFound(err) {
		return result, notFound("Campaign")
	}
	if err != nil {
		return result, err
	}
	deed := store.Deed{Action: "sandbox.pay", ObjectType: "campaign", ObjectID: campaign.String(), TenantID: owner}
	if err := d.Store.Note(r.Context(), deed); err != nil {
		return result, err
	}
	bad := payment.Fields{}
	created, err := d.Checkout.Create(r.Context(), of, checkout.CreateRequest{
		HasCampaign: true, CampaignID: &campaign, CustomerIP: web.ClientText(r.Context()),
		Lead: payment.Lead{
			Email: "payer-" + payment.NewID().String() + "@sandbox.example", FirstName: "Test", LastName: "Payer",
			Address: "Musterstr. 1", City: "Berlin", PostalCode: "10115", Country: "DE",
		},
	}, bad)
	if err != nil {
		return result, err
	}
	instrument := d.Checkout.Instrument(iban, "Test Payer", bad)
	if err := bad.Err(); err != nil {
		return result, err
	}
	return d.Checkout.Pay(r.Context(), checkout.Payment{
		Token: created.Token, Instrument: instrument, Source: payment.SourceAPI, ClientIP: web.ClientIP(r.Context()),
	})
}

// toSandbox goes back to the corner, with what was done.
func (d *Dashboard) toSandbox(w http.ResponseWriter, sent url.Values, transaction uuid.UUID, done string) error {
	d.say(w, done)
	query := url.Values{}
	if campaign := sent.Get("campaign"); campaign != "" {
		query.Set("campaign", campaign)
	}
	if transaction != uuid.Nil {
		query.Set("transaction", transaction.String())
	}
	seeOther(w, sandboxPath+"?"+query.Encode())
	return nil
}

// moveClock answers POST /dashboard/sandbox/clock/ once everything that fell due is done.
func (d *Dashboard) moveClock(w http.ResponseWriter, r *http.Request) error {
	sent, err := readForm(w, r)
	if err != nil {
		return err
	}
	now := d.Movable.Now()
	until := now
	switch sent.Get("by") {
	case "day":
		until = now.AddDate(0, 0, 1)
	case "week":
		until = now.AddDate(0, 0, 7)
	case "month":
		until = now.AddDate(0, 1, 0)
	case "billing":
		next, err := d.Store.NextBilling(r.Context())
		if err != nil {
			return err
		}
		if next.IsZero() {
			return &payment.Error{Kind: payment.Conflict, Detail: "No subscription is billed again. Pay one first."}
		}
		if next.After(now) {
			until = next
		}
	default:
		return payment.Fields{"by": "by must be day, week, month or billing."}.Err()
	}
	moved, err := jobs.Advance(r.Context(), d.Billing, d.Banking, d.Movable, until.Sub(now))
	if err != nil {
		return err
	}
	return d.toSandbox(w, sent, uuid.Nil, "It is "+moved.UTC().Format("Monday, 2 January 2006, 15:04")+" UTC now.")
}
