package merchant

import (
	"fmt"
	"slices"
	"strings"

	"sepad/internal/payment"
)

// minSecretLetters is how long a signing secret must at least be in production.
const minSecretLetters = 16

// Colours of a page that names none.
const (
	DefaultPrimaryColor = "#1a56db"
	DefaultAccentColor  = "#0e9f6e"
)

// gateway reads a gateway account. A sandbox deployment works against gateways'
// sandboxes, so that test_mode is on there unless the file says otherwise.
func (o object) gateway(tenant int) GatewayAccount {
	o.require("name", "adapter")
	return GatewayAccount{
		ID:         o.define(KindGateway, tenant),
		Name:       o.text("name", maxName),
		Adapter:    oneOf(o, "adapter", o.r.rules.Adapters, ""),
		TestMode:   o.boolean("test_mode", o.r.rules.Environment == Sandbox),
		Descriptor: o.text("descriptor", maxName),
		Settings:   o.tree("settings"),
		Active:     o.boolean("active", true),
	}
}

// webhookProfile reads a profile; it takes the usual events unless some are named.
func (o object) webhookProfile(tenant int) WebhookProfile {
	o.require("name", "url")
	return WebhookProfile{
		ID:            o.define(KindWebhookProfile, tenant),
		Name:          o.text("name", maxName),
		URL:           o.url("url"),
		SigningSecret: o.signingSecret(),
		Events:        o.events(),
		FullPayload:   oneOf(o, "payload", []string{contractPayload, fullPayload}, contractPayload) == fullPayload,
		Default:       o.boolean("default", false),
		Active:        o.boolean("active", true),
	}
}

// signingSecret is taken as it is written: a blank in it is part of it.
func (o object) signingSecret() Secret {
	text, ok := o.literal("signing_secret", "a text", textNode)
	if !ok {
		return ""
	}
	if problem := signingSecretProblem(text, o.r.rules.Environment); problem != "" {
		o.wrong("signing_secret", "%s", problem)
	}
	return Secret(text)
}

// signingSecretProblem says why a text cannot sign events, "" when it can.
func signingSecretProblem(text string, environment Environment) string {
	switch {
	case strings.TrimSpace(text) == "" || len(text) > maxName:
		return fmt.Sprintf("A signing secret has 1 to %d bytes, not all of them blank.", maxName)
	case environment == Production && len(text) < minSecretLetters:
		return fmt.Sprintf("In production a signing secret has at least %d characters.", minSecretLetters)
	default:
		return ""
	}
}

func (o object) events() []payment.EventKind {
	if !o.has("events") {
		return slices.Clone(payment.UsualEvents)
	}
	items := o.list("events")
	if len(items) == 0 && !o.r.reported[o.at("events")] {
		o.wrong("events", "Name at least one event, or leave events out to get the usual ones.")
	}
	var kinds []payment.EventKind
	for i, item := range items {
		path := fmt.Sprintf("%s[%d]", o.at("events"), i)
		switch kind := payment.EventKind(item.text); {
		case kind == payment.EveryEvent && len(items) == 1:
			return []payment.EventKind{payment.EveryEvent}
		case kind == payment.EveryEvent:
			o.r.wrong(item.line, path, "This stands for all events: name no other beside it.")
		case !slices.Contains(payment.EventKinds, kind):
			o.r.wrong(item.line, path, "This must be one of %s.%s", listed(payment.EventKinds), DidYouMean(item.text, asTexts(payment.EventKinds)))
		case slices.Contains(kinds, kind):
			o.r.wrong(item.line, path, "This event is named twice.")
		default:
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// hostedPage reads a page; it shows what the product has unless told not to.
func (o object) hostedPage(tenant int) HostedPage {
	o.require("name")
	return HostedPage{
		ID:                     o.define(KindHostedPage, tenant),
		Name:                   o.text("name", maxName),
		Branding:               o.branding(),
		Content:                o.tree("content"),
		ShowProductName:        o.boolean("show_product_name", true),
		ShowProductPrice:       o.boolean("show_product_price", true),
		ShowProductDescription: o.boolean("show_product_description", true),
		SuccessRedirectURL:     optional(o.url("success_redirect_url")),
		FailureRedirectURL:     optional(o.url("failure_redirect_url")),
		Links:                  o.links(),
		Active:                 o.boolean("active", true),
	}
}

func (o object) branding() Branding {
	b, ok := o.child("branding", "logo_url", "logo_dark_url", "primary_color", "accent_color")
	if !ok {
		return Branding{PrimaryColor: DefaultPrimaryColor, AccentColor: DefaultAccentColor}
	}
	return Branding{
		LogoURL:      optional(b.url("logo_url")),
		LogoDarkURL:  optional(b.url("logo_dark_url")),
		PrimaryColor: b.color("primary_color", DefaultPrimaryColor),
		AccentColor:  b.color("accent_color", DefaultAccentColor),
	}
}

func (o object) links() Links {
	l, ok := o.child("links", "shop", "other_payment", "terms", "privacy", "imprint")
	if !ok {
		return Links{}
	}
	return Links{
		Shop: optional(l.url("shop")), OtherPayment: optional(l.url("other_payment")),
		Terms: optional(l.url("terms")), Privacy: optional(l.url("privacy")), Imprint: optional(l.url("imprint")),
	}
}
