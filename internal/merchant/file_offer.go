package merchant

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sepad/internal/payment"
)

// Bounds of a campaign's session_ttl.
const (
	minSessionTTL = time.Second
	maxSessionTTL = 365 * 24 * time.Hour
)

// offer reads what can be bought.
func (o object) offer(tenant int) Offer {
	o.require("name", "price", "currency", "billing_type")
	return Offer{
		ID:                 o.define(KindOffer, tenant),
		Name:               o.text("name", maxName),
		Terms:              o.terms(),
		ProductName:        optional(o.text("product_name", maxName)),
		ProductDescription: optional(o.text("product_description", maxDescription)),
		Active:             o.boolean("active", true),
	}
}

func (o object) terms() payment.Terms {
	terms := payment.Terms{
		Currency:    o.currency(),
		BillingType: oneOf(o, "billing_type", payment.BillingTypes, ""),
		Frequency:   oneOf(o, "billing_frequency", payment.BillingFrequencies, ""),
		TrialUnit:   oneOf(o, "trial_interval_unit", payment.TrialUnits, ""),
		TrialPeriod: o.integer("trial_period", 1, payment.MaxTrialPeriod, 0),
		TrialMinor:  o.amount("trial_price", 0),
	}
	if price := o.amount("price", 1); price != nil {
		terms.PriceMinor = *price
	}
	o.checkTogether(terms)
	return terms
}

// checkTogether reports fields that are fine alone but do not fit the others.
// Where a field was found bad already, nothing more is said of it.
func (o object) checkTogether(terms payment.Terms) {
	bad := payment.Fields{}
	if terms.BillingType == "" {
		bad.Add("billing_type", "reported already")
	}
	terms.Check(bad)
	for _, key := range slices.Sorted(maps.Keys(bad)) {
		if !o.r.reported[o.at(key)] {
			o.wrong(key, "%s", bad[key])
		}
	}
}

// currency is taken in any case, as the API takes it.
func (o object) currency() string {
	text := strings.ToUpper(o.text("currency", maxName))
	if text != "" && !payment.KnownCurrency(text) {
		o.wrong("currency", "Give a currency of ISO 4217 such as EUR.")
		return ""
	}
	return text
}

// campaign reads what sells an offer.
func (o object) campaign(tenant int) Campaign {
	o.require("name", "offer_id", "gateway_id")
	modes := []payment.AcceptanceMode{payment.AcceptCheckbox, payment.AcceptImplicit}
	c := Campaign{
		ID:                 o.define(KindCampaign, tenant),
		Name:               o.text("name", maxName),
		HostedPageID:       o.refer("hosted_page_id", KindHostedPage, tenant),
		WebhookProfileID:   o.refer("webhook_profile_id", KindWebhookProfile, tenant),
		MaxPaymentAttempts: o.integer("max_payment_attempts", 1, payment.MaxPaymentAttempts, payment.DefaultPaymentAttempts),
		AcceptanceMode:     oneOf(o, "mandate_acceptance_mode", modes, payment.AcceptCheckbox),
		SessionTTL:         o.duration("session_ttl", minSessionTTL, maxSessionTTL),
		Dunning:            o.dunning(),
		KeepsClaimed:       o.optionalBoolean("chargeback_keeps_subscription"),
		OfferOverrides:     o.tree("offer_overrides"),
		Active:             o.boolean("active", true),
	}
	if id := o.refer("offer_id", KindOffer, tenant); id != nil {
		c.OfferID = *id
	}
	if id := o.refer("gateway_id", KindGateway, tenant); id != nil {
		c.GatewayID = *id
	}
	return c
}

// optionalBoolean is nil where nothing is said.
func (o object) optionalBoolean(key string) *bool {
	if !o.has(key) {
		return nil
	}
	return new(o.boolean(key, false))
}

// dunning reads when a refused rebill is tried again; an empty list means never.
func (o object) dunning() payment.Dunning {
	if !o.has("dunning_days") {
		return nil
	}
	days := payment.Dunning{}
	for i, item := range o.list("dunning_days") {
		number, err := strconv.Atoi(item.text)
		if err != nil || number < 1 || number > payment.MaxDunningDays {
			o.r.wrong(item.line, fmt.Sprintf("%s[%d]", o.at("dunning_days"), i), "Give a whole number of days from 1 to %d.", payment.MaxDunningDays)
			continue
		}
		days = append(days, number)
	}
	return days
}
