package merchant

import "regexp"

// tenant reads one tenant with all that it sets up.
func (r *reader) tenant(o object, number int) FileTenant {
	o.require("id", "name")
	t := FileTenant{Line: o.line, Path: o.path}
	t.Tenant = Tenant{ID: o.define(KindTenant, number), Name: o.text("name", maxName), Creditor: o.creditor()}
	t.APIKeys = o.apiKeys()
	t.Gateways = read(o, "gateways", number, object.gateway,
		"id", "name", "adapter", "test_mode", "descriptor", "settings", "active")
	t.WebhookProfiles = read(o, "webhook_profiles", number, object.webhookProfile,
		"id", "name", "url", "signing_secret", "events", "default", "active")
	t.HostedPages = read(o, "hosted_pages", number, object.hostedPage,
		"id", "name", "branding", "content", "show_product_name", "show_product_price", "show_product_description",
		"success_redirect_url", "failure_redirect_url", "links", "active")
	t.Offers = read(o, "offers", number, object.offer,
		"id", "name", "price", "currency", "billing_type", "billing_frequency", "trial_period", "trial_interval_unit",
		"trial_price", "product_name", "product_description", "active")
	t.Campaigns = read(o, "campaigns", number, object.campaign,
		"id", "name", "offer_id", "gateway_id", "hosted_page_id", "webhook_profile_id", "max_payment_attempts",
		"mandate_acceptance_mode", "session_ttl", "dunning_days", "offer_overrides", "active")
	r.checkDefaults(t.WebhookProfiles)
	return t
}

// read reads a list of records of one kind.
func read[T any](o object, key string, tenant int, record func(object, int) T, keys ...string) []Entry[T] {
	var entries []Entry[T]
	for _, element := range o.objects(key, keys...) {
		entries = append(entries, Entry[T]{Line: element.line, Path: element.path, Record: record(element, tenant)})
	}
	return entries
}

// creditorForm is the shape of a SEPA creditor identifier: country, two check
// digits, the creditor's business code, and a national part.
var creditorForm = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{3}[A-Z0-9]{1,28}$`)

func (o object) creditor() Creditor {
	c, ok := o.child("creditor", "name", "address", "identifier")
	if !ok {
		return Creditor{}
	}
	c.require("name")
	creditor := Creditor{Name: c.text("name", maxName), Address: c.text("address", 500), Identifier: c.text("identifier", 35)}
	if creditor.Identifier != "" && !creditorForm.MatchString(creditor.Identifier) {
		c.wrong("identifier", "Give a SEPA creditor identifier such as DE98ZZZ09999999999.")
	}
	return creditor
}

// apiKeys reads the keys that a tenant shall have. Their names tell them apart
// when the file is applied again, so that each name is given once.
func (o object) apiKeys() []FileAPIKey {
	var keys []FileAPIKey
	names := map[string]int{}
	for _, k := range o.objects("api_keys", "name", "key") {
		k.require("name")
		key := FileAPIKey{Line: k.line, Path: k.path, Name: k.text("name", maxName), Key: k.chosenKey()}
		if line, taken := names[key.Name]; taken && key.Name != "" {
			k.wrong("name", "The key in line %d has the same name.", line)
		}
		names[key.Name] = k.lineOf("name")
		keys = append(keys, key)
	}
	return keys
}

// chosenKey is a key that the operator brings along, which only a sandbox
// allows: a key that has been in a file is no secret any more.
func (o object) chosenKey() Secret {
	text, ok := o.literal("key", "a text", "!!str")
	if !ok {
		return ""
	}
	if o.r.environment != Sandbox {
		o.wrong("key", "Only a sandbox takes keys from a file: leave it out and one is made.")
		return ""
	}
	if !chosenKeyFits(text) {
		o.wrong("key", "Give %s and %d to %d letters, digits, hyphens or underscores.", testKeyPrefix, minChosenLetters, maxChosenLetters)
		return ""
	}
	key := Secret(text)
	if line, taken := o.r.index.keys[key]; taken {
		o.wrong("key", "The key in line %d is the same.", line)
	}
	o.r.index.keys[key] = o.lineOf("key")
	return key
}

// checkDefaults allows one default webhook profile.
func (r *reader) checkDefaults(profiles []Entry[WebhookProfile]) {
	first := 0
	for _, p := range profiles {
		switch {
		case !p.Record.Default:
		case first != 0:
			r.wrong(p.Line, join(p.Path, "default"), "The profile in line %d is the default already.", first)
		default:
			first = p.Line
		}
	}
}
