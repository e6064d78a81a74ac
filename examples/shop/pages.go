package main

import (
	"html/template"
	"log"
	"net/http"

	sepad "sepad/sdk/go"
)

var page = template.Must(template.New("").Parse(`{{define "head"}}<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Corner shop</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 34rem; margin: 3rem auto; padding: 0 1rem }
  article, form { border: 1px solid #8886; border-radius: .75rem; padding: 1.25rem; margin: 1rem 0 }
  label { display: block; margin: .75rem 0 }
  input { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .5rem }
  button { font: inherit; padding: .55rem 1rem; border: 0; border-radius: .5rem; background: #1a56db; color: #fff }
  .problem { color: #c81e1e }
</style><h1><a href="/">Corner shop</a></h1>{{end}}

{{define "products"}}{{template "head"}}{{range .}}
<form method="post" action="/buy"><h2>{{.Name}}</h2><p>{{.Price}}</p><input type="hidden" name="product" value="{{.ID}}">
<label>First name<input name="first_name" required value="Ada"></label><label>Last name<input name="last_name" required value="Keller"></label>
<label>Email<input name="email" type="email" required></label><button id="{{.ID}}">{{.Action}}</button></form>{{end}}{{end}}

{{define "form"}}{{template "head"}}<form method="post"><h2>Pay {{.Session.Amount}} {{.Session.Currency}}</h2>
{{with .Problem}}<p class="problem" role="alert">{{.}}</p>{{end}}
<label>IBAN<input name="iban" required autocomplete="off" value="{{.IBAN}}"></label>
<label>Account holder<input name="holder" required value="Ada Keller"></label>
<p>By paying you authorise us to collect this payment from your account by SEPA direct debit. You can claim the money back from your bank for eight weeks.</p>
<button id="pay">Pay</button></form>{{end}}

{{define "account"}}{{template "head"}}<article><h2>Order {{.Order.Number}}</h2>
<p id="state">{{if .Order.IsFulfilled}}Paid and on its way.{{else}}We are waiting for the payment.{{end}}</p>
{{with .Subscription}}<p id="subscription">{{.BillingAmount}} {{.Currency}}, {{.Status}}{{with .NextBillingDate}}, next on {{.}}{{end}}{{with .EndsOn}}, ends on {{.}}{{end}}</p>
{{if not .EndsOn}}{{if ne .Status "CANCELLED"}}<form method="post" action="/account/{{$.Order.Number}}/cancel"><button id="cancel">Cancel the subscription</button></form>{{end}}{{end}}{{end}}
</article>{{end}}
{{define "problem"}}{{template "head"}}<p class="problem" role="alert">{{.}}</p>{{end}}`))

// product is something on sale.
type product struct{ ID, Name, Price, Action, Campaign string }

var products = []product{
	{"poster", "Poster", "19.90 EUR", "Pay on the payment page", hostedPoster},
	{"poster-form", "Poster, by our own form", "19.90 EUR", "Pay here", ownFormPoster},
	{"premium", "Premium", "29.99 EUR a month", "Subscribe on the payment page", hostedPremium},
}

func (s *shop) showProducts(w http.ResponseWriter, _ *http.Request) { show(w, "products", products) }

// buy orders a product and leads on to where it is paid.
func (s *shop) buy(w http.ResponseWriter, r *http.Request) {
	var bought *product
	for i := range products {
		if products[i].ID == r.FormValue("product") {
			bought = &products[i]
		}
	}
	if bought == nil {
		fail(w, http.StatusNotFound, "We do not sell this.")
		return
	}
	ordered := s.orders.add(bought.Name)
	account := s.url + "/account/" + ordered.Number
	created, err := s.client.CreateSession(r.Context(), sepad.SessionRequest{
		IdempotencyKey: ordered.Number, CampaignID: bought.Campaign,
		Lead: sepad.Lead{FirstName: r.FormValue("first_name"), LastName: r.FormValue("last_name"), Email: r.FormValue("email"), Country: "DE"},
		SessionOptions: sepad.SessionOptions{
			TenantReferenceID: ordered.Number, SuccessRedirectURL: account, FailureRedirectURL: s.url + "/",
			Metadata: map[string]string{"order": ordered.Number},
		},
	})
	if err != nil {
		refuse(w, err)
		return
	}
	s.orders.change(ordered.Number, func(o *order) { o.Token = created.SessionToken })
	next := created.PaymentURL
	if bought.Campaign == ownFormPoster {
		next = "/form/" + ordered.Number
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// formPage is our own form, again where the first try was refused.
type formPage struct {
	Session       sepad.Session
	IBAN, Problem string
}

func (s *shop) showForm(w http.ResponseWriter, r *http.Request) { s.writeForm(w, r, "", "") }

func (s *shop) writeForm(w http.ResponseWriter, r *http.Request, iban, problem string) {
	ordered, found := s.orders.get(r.PathValue("order"))
	if !found {
		fail(w, http.StatusNotFound, "There is no such order.")
		return
	}
	session, err := s.client.Session(r.Context(), ordered.Token)
	if err != nil {
		refuse(w, err)
		return
	}
	show(w, "form", formPage{session, iban, problem})
}

// payByForm pays server to server. What it answers is for the customer's eyes; the goods
// are sent when the event says so.
func (s *shop) payByForm(w http.ResponseWriter, r *http.Request) {
	ordered, found := s.orders.get(r.PathValue("order"))
	if !found {
		fail(w, http.StatusNotFound, "There is no such order.")
		return
	}
	iban := r.FormValue("iban")
	result, err := s.client.Pay(r.Context(), ordered.Token, sepad.PayRequest{IBAN: iban, HolderName: r.FormValue("holder")})
	switch {
	case sepad.FieldError(err, "iban") != "":
		s.writeForm(w, r, iban, sepad.FieldError(err, "iban"))
	case err != nil:
		refuse(w, err)
	case result.Status == sepad.AwaitingVerification:
		http.Redirect(w, r, result.VerificationURL, http.StatusSeeOther)
	case result.Status == sepad.Declined && result.RetryAllowed:
		s.writeForm(w, r, "", result.ErrorDetails.Message)
	default:
		http.Redirect(w, r, "/account/"+ordered.Number, http.StatusSeeOther)
	}
}

// accountPage is an order with its subscription, nil where it is paid once.
type accountPage struct {
	Order        order
	Subscription *sepad.Subscription
}

func (s *shop) showAccount(w http.ResponseWriter, r *http.Request) {
	ordered, found := s.orders.get(r.PathValue("order"))
	if !found {
		fail(w, http.StatusNotFound, "There is no such order.")
		return
	}
	shown := accountPage{Order: ordered}
	if id := s.subscriptionOf(r, ordered); id != "" {
		sub, err := s.client.Subscription(r.Context(), id)
		if err != nil {
			refuse(w, err)
			return
		}
		shown.Subscription = &sub
	}
	show(w, "account", shown)
}

// subscriptionOf asks for it once: the purchase knows it from its payment on.
func (s *shop) subscriptionOf(r *http.Request, ordered order) string {
	if ordered.SubscriptionID != "" || ordered.Token == "" {
		return ordered.SubscriptionID
	}
	result, err := s.client.Result(r.Context(), ordered.Token)
	if err != nil || result.Subscription == nil {
		return ""
	}
	s.orders.change(ordered.Number, func(o *order) { o.SubscriptionID = result.Subscription.ID })
	return result.Subscription.ID
}

// cancelSubscription has it end with its period: what is paid for is still delivered.
func (s *shop) cancelSubscription(w http.ResponseWriter, r *http.Request) {
	ordered, found := s.orders.get(r.PathValue("order"))
	if !found {
		fail(w, http.StatusNotFound, "There is no such order.")
		return
	}
	if _, err := s.client.CancelSubscription(r.Context(), s.subscriptionOf(r, ordered), sepad.PeriodEnd); err != nil && sepad.StatusOf(err) != http.StatusConflict {
		refuse(w, err)
		return
	}
	http.Redirect(w, r, "/account/"+ordered.Number, http.StatusSeeOther)
}

func show(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := page.ExecuteTemplate(w, name, data); err != nil {
		log.Print(err)
	}
}

// refuse shows what the service has against a request, and nothing of what only we
// should know.
func refuse(w http.ResponseWriter, err error) {
	log.Print(err)
	for _, field := range []string{"lead.email", "lead.first_name", "lead.last_name"} {
		if sentence := sepad.FieldError(err, field); sentence != "" {
			fail(w, http.StatusBadRequest, sentence)
			return
		}
	}
	if sepad.StatusOf(err) == http.StatusConflict {
		fail(w, http.StatusConflict, "You have an order that is not paid yet. Finish it first, or try again tomorrow.")
		return
	}
	fail(w, http.StatusBadGateway, "We cannot take payments just now. Please try again in a few minutes.")
}

func fail(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.ExecuteTemplate(w, "problem", sentence)
}
