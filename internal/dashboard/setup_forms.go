package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/setup"
)

// recordKind is a kind of record that a tenant sets up, as it is shown and filled in.
type recordKind struct {
	// path is its name in addresses, one and many in sentences.
	path, one, many string
	none            error
	all             func(*merchant.Setup) map[uuid.UUID]merchant.Fields
	put             func(merchant.Rules, *merchant.Setup, uuid.UUID, merchant.Fields) error
	switchOff       func(*merchant.Setup, uuid.UUID)
	form            func(*Dashboard, *merchant.Setup, merchant.Fields) form
	// empty says what to do where there is none yet.
	empty string
}

func notFound(what string) error {
	return &payment.Error{Kind: payment.NotFound, Detail: what + " not found"}
}

// recordKinds stand in the order in which they are set up.
var recordKinds = []recordKind{
	{
		path: "gateways", one: "gateway", many: "Gateways", none: notFound("Gateway"), put: setup.Gateways.Put, switchOff: setup.Gateways.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.Gateways, merchant.GatewayFields)
		},
		form: gatewayForm, empty: "A gateway is an account through which money is collected. Add one first: campaigns need it.",
	},
	{
		path: "offers", one: "offer", many: "Offers", none: notFound("Offer"), put: setup.Offers.Put, switchOff: setup.Offers.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.Offers, merchant.OfferFields)
		},
		form: offerForm, empty: "An offer is what can be bought: a price, once or again and again.",
	},
	{
		path: "hosted-pages", one: "payment page", many: "Payment pages", none: notFound("Hosted page"), put: setup.HostedPages.Put, switchOff: setup.HostedPages.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.HostedPages, merchant.HostedPageFields)
		},
		form: pageForm, empty: "A payment page is what payers see: your logo, your colours, your words. Campaigns without one are paid by calls of your server.",
	},
	{
		path: "webhook-profiles", one: "webhook profile", many: "Webhook profiles", none: notFound("Webhook profile"), put: setup.WebhookProfiles.Put, switchOff: setup.WebhookProfiles.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.WebhookProfiles, merchant.WebhookProfileFields)
		},
		form: profileForm, empty: "A webhook profile is where your server hears of payments.",
	},
	{
		path: "campaigns", one: "campaign", many: "Campaigns", none: notFound("Campaign"), put: setup.Campaigns.Put, switchOff: setup.Campaigns.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.Campaigns, merchant.CampaignFields)
		},
		form: campaignForm, empty: "A campaign sells an offer through a gateway. Add one once there are both.",
	},
}

// kindAt finds a kind by its name in addresses.
func kindAt(path string) (recordKind, bool) {
	i := slices.IndexFunc(recordKinds, func(k recordKind) bool { return k.path == path })
	if i < 0 {
		return recordKind{}, false
	}
	return recordKinds[i], true
}

// tenantForm is a tenant's own fields.
func tenantForm() form {
	return form{
		{"", "", []input{{Name: "name", Label: "Name", Kind: textInput, Required: true, Help: "What payers and people here call the merchant."}}},
		{"Creditor", "Named in the mandate that payers agree to. Production asks for all three.", []input{
			{Name: "creditor.name", Label: "Name", Kind: textInput, Hint: "Demo Shop GmbH"},
			{Name: "creditor.address", Label: "Address", Kind: textInput, Hint: "Musterstr. 1, 10115 Berlin, DE"},
			{Name: "creditor.identifier", Label: "Creditor identifier", Kind: textInput, Hint: "DE98ZZZ09999999999"},
		}},
		{"Mails before a debit", "Sent where a mail server is set.", []input{
			{Name: "notices.sender", Label: "Sender", Kind: textInput, Hint: "My Shop <billing@shop.example>"},
			{Name: "notices.reply_to", Label: "Answers go to", Kind: textInput},
			{Name: "notices.send", Label: "Of which collections", Kind: choiceInput, Choices: []choice{
				{"", "not set"}, {string(merchant.SendAll), "all"}, {string(merchant.SendFirstAndChanges), "the first, and changes"}, {string(merchant.SendNone), "none"},
			}},
		}},
		{"Browsers", "", []input{
			{Name: "allowed_origins", Label: "Sites whose pages may call", Kind: linesInput, Help: "One origin in a line, such as https://shop.example. None: all."},
		}},
	}
}

func offerForm(*Dashboard, *merchant.Setup, merchant.Fields) form {
	return form{
		{"", "", []input{
			{Name: "name", Label: "Name", Kind: textInput, Required: true, Hint: "Premium monthly"},
			{Name: "price", Label: "Price", Kind: textInput, Required: true, Hint: "29.99"},
			{Name: "currency", Label: "Currency", Kind: textInput, Required: true, Default: "EUR"},
			{Name: "billing_type", Label: "Billing", Kind: choiceInput, Required: true, Default: string(payment.OneOff), Choices: []choice{
				{string(payment.OneOff), "once"}, {string(payment.Recurring), "again and again"}, {string(payment.TrialRecurring), "a trial, then again and again"},
			}},
			{Name: "billing_frequency", Label: "How often", Kind: choiceInput, Choices: append([]choice{{"", "never by itself"}}, lowered(payment.BillingFrequencies)...)},
		}},
		{"Trial", "For offers that begin with one.", []input{
			{Name: "trial_period", Label: "Length", Kind: numberInput, Hint: "14"},
			{Name: "trial_interval_unit", Label: "Unit", Kind: choiceInput, Choices: append([]choice{{"", "not set"}}, lowered(payment.TrialUnits)...)},
			{Name: "trial_price", Label: "Price of the trial", Kind: textInput, Hint: "0.00", Help: "Nothing: the trial is free."},
		}},
		{"What payers read", "", []input{
			{Name: "product_name", Label: "Product", Kind: textInput},
			{Name: "product_description", Label: "Description", Kind: longInput},
		}},
	}
}

// lowered are values to choose from, in small letters for people.
func lowered[T ~string](values []T) (choices []choice) {
	for _, value := range values {
		choices = append(choices, choice{string(value), strings.ToLower(string(value))})
	}
	return choices
}

func pageForm(d *Dashboard, of *merchant.Setup, fields merchant.Fields) form {
	logos := logosOf(of)
	return form{
		{"", "", []input{{Name: "name", Label: "Name", Kind: textInput, Required: true, Help: "For people here; payers do not see it."}}},
		{"Looks", "", []input{
			{Name: "branding.logo_url", Label: "Logo", Kind: logoInput, Choices: logos, Hint: "https://shop.example/logo.svg", Help: "The address of a PNG, JPEG, GIF, WebP or SVG."},
			{Name: "branding.logo_dark_url", Label: "Logo on dark screens", Kind: logoInput, Choices: logos, Help: "Nothing: the same logo, on a light plate where it would not be seen."},
			{Name: "branding.primary_color", Label: "Main colour", Kind: colorInput, Default: merchant.DefaultPrimaryColor, Help: d.Preview.ColorWords(mainColor(fields))},
			{Name: "branding.accent_color", Label: "Accent colour", Kind: colorInput, Default: merchant.DefaultAccentColor, Help: "Thin lines, links and the ground beside the form."},
			{Name: "show_product_name", Label: "Show the product's name", Kind: tickInput, Default: "true"},
			{Name: "show_product_price", Label: "Show the price", Kind: tickInput, Default: "true"},
			{Name: "show_product_description", Label: "Show the description", Kind: tickInput, Default: "true"},
		}},
		{"Words", "", []input{
			{Name: "content.headline", Label: "Headline", Kind: textInput},
			{Name: "content.intro", Label: "Introduction", Kind: longInput},
			{Name: "content.price_note", Label: "Note at the price", Kind: textInput},
			{Name: "content.success_text", Label: "After a payment", Kind: longInput},
			{Name: "content.failure_text", Label: "After a refusal", Kind: longInput},
			{Name: "content.footer_text", Label: "Foot", Kind: textInput},
			{Name: "content.help_email", Label: "Email for help", Kind: textInput},
			{Name: "content.help_url", Label: "Page for help", Kind: addressInput},
			{Name: "content.mandate_text", Label: "Mandate", Kind: longInput, Help: "Nothing: the scheme's own text, in the payer's language."},
		}},
		{"Ways on", "", []input{
			{Name: "success_redirect_url", Label: "After a payment", Kind: addressInput},
			{Name: "failure_redirect_url", Label: "After a refusal", Kind: addressInput},
			{Name: "links.shop", Label: "Back to the shop", Kind: addressInput},
			{Name: "links.other_payment", Label: "Pay otherwise", Kind: addressInput},
			{Name: "links.terms", Label: "Terms", Kind: addressInput},
			{Name: "links.privacy", Label: "Privacy", Kind: addressInput},
			{Name: "links.imprint", Label: "Imprint", Kind: addressInput},
		}},
	}
}

// mainColor is the colour of a page's button.
func mainColor(fields merchant.Fields) string {
	branding, _ := fields["branding"].(map[string]any)
	chosen, _ := branding["primary_color"].(string)
	return cmp.Or(chosen, merchant.DefaultPrimaryColor)
}

func profileForm(*Dashboard, *merchant.Setup, merchant.Fields) form {
	events := []choice{{string(payment.EveryEvent), "every event, also those to come"}}
	for _, kind := range payment.EventKinds {
		events = append(events, choice{string(kind), string(kind)})
	}
	usual := make([]string, len(payment.UsualEvents))
	for i, kind := range payment.UsualEvents {
		usual[i] = string(kind)
	}
	return form{
		{"", "", []input{
			{Name: "name", Label: "Name", Kind: textInput, Required: true},
			{Name: "url", Label: "Address", Kind: addressInput, Required: true, Hint: "https://shop.example/hooks"},
			{Name: "default", Label: "Used where neither session nor campaign names one", Kind: tickInput},
			{Name: "payload", Label: "What bodies hold", Kind: choiceInput, Default: "contract", Choices: []choice{
				{"contract", "the fields of the contract"}, {"full", "also all ids and the metadata"},
			}},
		}},
		{"Events", "", []input{{Name: "events", Label: "Which are sent", Kind: manyInput, Choices: events, Default: strings.Join(usual, " ")}}},
	}
}

func campaignForm(_ *Dashboard, of *merchant.Setup, _ merchant.Fields) form {
	return form{
		{"", "", []input{
			{Name: "name", Label: "Name", Kind: textInput, Required: true, Hint: "Spring"},
			{Name: "offer_id", Label: "Offer", Kind: choiceInput, Required: true, Choices: named(of.Offers, func(o merchant.Offer) (string, bool) { return o.Name, o.Active })},
			{Name: "gateway_id", Label: "Gateway", Kind: choiceInput, Required: true, Choices: named(of.Gateways, func(g merchant.GatewayAccount) (string, bool) { return g.Name, g.Active })},
			{Name: "hosted_page_id", Label: "Payment page", Kind: choiceInput, Choices: append([]choice{{"", "none: paid by calls of the merchant's server"}},
				named(of.HostedPages, func(p merchant.HostedPage) (string, bool) { return p.Name, p.Active })...)},
			{Name: "webhook_profile_id", Label: "Webhook profile", Kind: choiceInput, Choices: append([]choice{{"", "the default"}},
				named(of.WebhookProfiles, func(p merchant.WebhookProfile) (string, bool) { return p.Name, p.Active })...)},
		}},
		{"Payment", "", []input{
			{Name: "max_payment_attempts", Label: "Attempts", Kind: numberInput, Default: "3"},
			{Name: "mandate_acceptance_mode", Label: "How the mandate is agreed to", Kind: choiceInput, Default: string(payment.AcceptCheckbox), Choices: []choice{
				{string(payment.AcceptCheckbox), "a box is ticked"}, {string(payment.AcceptImplicit), "by paying"},
			}},
			{Name: "session_ttl", Label: "A session can be paid for", Kind: textInput, Hint: "24h", Help: "Nothing: as the deployment says."},
			{Name: "dunning_days", Label: "Days until a refused rebill is tried again", Kind: linesInput, Help: "One number in a line, such as 3, 5 and 7. Nothing: as the deployment says."},
			{Name: "chargeback_keeps_subscription", Label: "A subscription goes on after a chargeback", Kind: maybeInput},
		}},
		{"What the page shows instead of the offer", "What is collected stays the same.", []input{
			{Name: "offer_overrides.product_name", Label: "Product", Kind: textInput},
			{Name: "offer_overrides.product_description", Label: "Description", Kind: longInput},
			{Name: "offer_overrides.price_label", Label: "Price", Kind: textInput},
		}},
	}
}

// named are records to choose from; what is switched off says so.
func named[T any](records map[uuid.UUID]T, name func(T) (string, bool)) (choices []choice) {
	for id, record := range records {
		label, isActive := name(record)
		if !isActive {
			label += " (off)"
		}
		choices = append(choices, choice{id.String(), label})
	}
	slices.SortFunc(choices, func(a, b choice) int { return strings.Compare(a.Label+a.Value, b.Label+b.Value) })
	return choices
}

// gatewayForm is an account's own fields, and those that its adapter declares.
func gatewayForm(d *Dashboard, _ *merchant.Setup, fields merchant.Fields) form {
	adapter := d.adapterOf(fields)
	inputs := form{{"", "", []input{
		{Name: "adapter", Label: "Adapter", Kind: choiceInput, Required: true, Choices: []choice{{adapter, d.Applier.Kinds[adapter].DisplayName}}, Default: adapter},
		{Name: "name", Label: "Name", Kind: textInput, Required: true},
		{Name: "test_mode", Label: "The account is at the gateway's own test system", Kind: tickInput, Default: map[bool]string{true: "true"}[d.Environment == merchant.Sandbox]},
		{Name: "descriptor", Label: "Text on payers' statements", Kind: textInput},
	}}}
	own, objects := group{Title: "Settings of the adapter"}, form{}
	for _, setting := range d.Applier.Kinds[adapter].Settings {
		if setting.Type != gateway.SettingObject {
			own.Inputs = append(own.Inputs, settingInput("settings.", setting))
			continue
		}
		within := group{Title: words(setting.Name), Help: setting.Help}
		for _, inner := range setting.Fields {
			within.Inputs = append(within.Inputs, settingInput("settings."+setting.Name+".", inner))
		}
		objects = append(objects, within)
	}
	if len(own.Inputs) > 0 {
		inputs = append(inputs, own)
	}
	return append(inputs, objects...)
}

// adapterOf is where an account is at; a new one is at the sandbox, or what comes first.
func (d *Dashboard) adapterOf(fields merchant.Fields) string {
	adapter, _ := fields["adapter"].(string)
	if _, known := d.Applier.Kinds[adapter]; known {
		return adapter
	}
	if _, known := d.Applier.Kinds[sandbox.Name]; known {
		return sandbox.Name
	}
	return d.Applier.Rules().Adapters[0]
}

// adapters are what an account can be at.
func (d *Dashboard) adapters() (choices []choice) {
	for _, name := range d.Applier.Rules().Adapters {
		choices = append(choices, choice{name, d.Applier.Kinds[name].DisplayName})
	}
	return choices
}

// settingInput is a row of an adapter's table of settings.
func settingInput(prefix string, s gateway.Setting) input {
	i := input{Name: prefix + s.Name, Label: words(s.Name), Help: s.Help, Kind: textInput, Required: s.Required && prefix == "settings."}
	if s.Default != nil {
		i.Hint = fmt.Sprint(s.Default)
	}
	switch {
	case s.Secret:
		i.Kind, i.Hint = secretInput, ""
	case len(s.Choices) > 0:
		i.Kind = choiceInput
		i.Choices = []choice{{"", "as usual" + map[bool]string{true: ": " + i.Hint}[i.Hint != ""]}}
		for _, value := range s.Choices {
			i.Choices = append(i.Choices, choice{value, value})
		}
	case s.Type == gateway.SettingNumber:
		i.Kind = numberInput
	case s.Type == gateway.SettingFlag:
		i.Kind = maybeInput
	}
	return i
}

// words is a setting's name for people.
func words(name string) string {
	name = strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(name[:1]) + name[1:]
}
