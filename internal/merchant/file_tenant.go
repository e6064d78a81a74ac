package merchant

import (
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"sepad/internal/sepa"
)

// tenant reads one tenant with all that it sets up.
func (r *reader) tenant(o object, number int) FileTenant {
	t := FileTenant{Line: o.line, Path: o.path, Tenant: tenantForm.read(o, number)}
	t.APIKeys = o.apiKeys()
	t.Gateways = readList(o, "gateways", number, gatewayForm)
	t.WebhookProfiles = readList(o, "webhook_profiles", number, profileForm)
	t.HostedPages = readList(o, "hosted_pages", number, pageForm)
	t.Offers = readList(o, "offers", number, offerForm)
	t.Campaigns = readList(o, "campaigns", number, campaignForm)
	r.checkDefaults(t.WebhookProfiles)
	return t
}

// readList reads a list of records of one kind.
func readList[T any](o object, key string, tenant int, form recordForm[T]) []Entry[T] {
	var entries []Entry[T]
	for _, element := range o.objects(key, form.keys...) {
		entries = append(entries, Entry[T]{Line: element.line, Path: element.path, Record: form.read(element, tenant)})
	}
	return entries
}

// tenant reads a tenant's own fields.
func (o object) tenant(number int) Tenant {
	o.require("name")
	return Tenant{ID: o.define(KindTenant, number), Name: o.text("name", maxName), Creditor: o.creditor(), Notices: o.notices(), AllowedOrigins: o.origins()}
}

// origins reads whose pages may call from browsers: scheme and host, and nothing after
// them, as browsers write them.
func (o object) origins() Origins {
	var list []string
	for i, item := range o.list("allowed_origins") {
		path := fmt.Sprintf("%s[%d]", o.at("allowed_origins"), i)
		at, err := url.Parse(item.text)
		switch {
		case err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || item.text != at.Scheme+"://"+at.Host || !isBrowsersHost(at):
			o.r.wrong(item.line, path, "Give an origin as browsers send it, such as https://shop.example: in lower case, a host with letters of its own as xn--…, no port that is the usual one, nothing after it.")
		case at.Scheme == "http" && o.r.rules.Environment == Production:
			o.r.wrong(item.line, path, "In production this must begin with https.")
		case slices.Contains(list, item.text):
			o.r.wrong(item.line, path, "This origin is named twice.")
		case len(list) == maxOrigins:
			o.r.wrong(item.line, path, "There may be at most %d origins.", maxOrigins)
		default:
			list = append(list, item.text)
		}
	}
	return NewOrigins(list)
}

// isBrowsersHost tells a host as browsers write it in an origin. Another would admit nobody.
func isBrowsersHost(at *url.URL) bool {
	isForeign := func(c rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.-_:[]", c) }
	usual := map[string]string{"https": "443", "http": "80"}
	return !strings.ContainsFunc(at.Host, isForeign) && at.Port() != usual[at.Scheme] && !strings.HasSuffix(at.Host, ":")
}

// maxOrigins bounds them: each call from a browser is held against all.
const maxOrigins = 50

// notices reads who writes to payers, and when.
func (o object) notices() Notices {
	n, ok := o.child("notices", "sender", "reply_to", "send")
	if !ok {
		return Notices{}
	}
	n.require("sender")
	return Notices{
		Sender: n.address("sender"), ReplyTo: n.address("reply_to"),
		Send: oneOf(n, "send", []SendNotices{SendAll, SendFirstAndChanges, SendNone}, SendAll),
	}
}

// address reads an email address, with a name or without.
func (o object) address(key string) string {
	text := o.text(key, maxName)
	if text == "" {
		return ""
	}
	address, err := mail.ParseAddress(text)
	if err != nil || !strings.Contains(address.Address[strings.LastIndex(address.Address, "@")+1:], ".") || strings.ContainsFunc(address.Name, unicode.IsControl) {
		o.wrong(key, "Give an email address, such as My Shop <billing@shop.example>.")
		return ""
	}
	if address.Name == "" {
		return address.Address
	}
	return address.String()
}

func (o object) creditor() Creditor {
	c, ok := o.child("creditor", "name", "address", "identifier")
	if !ok {
		return Creditor{}
	}
	c.require("name")
	creditor := Creditor{Name: c.text("name", maxName), Address: c.text("address", 500)}
	if text := c.text("identifier", maxName); text != "" {
		identifier, err := sepa.ParseCreditorIdentifier(text)
		if err != nil {
			c.wrong("identifier", "%s", err)
		}
		creditor.Identifier = identifier
	}
	return creditor
}

// apiKeys reads the keys that a tenant shall have. Their names tell them apart
// when the file is applied again, so that each name is given once.
func (o object) apiKeys() []FileAPIKey {
	var keys []FileAPIKey
	names := map[string]int{}
	for _, k := range o.objects("api_keys", "name", "key", "scopes") {
		k.require("name")
		key := FileAPIKey{Line: k.line, Path: k.path, Name: k.text("name", maxName), Key: k.chosenKey(), Scopes: k.scopes()}
		if line, taken := names[key.Name]; taken && key.Name != "" {
			k.wrong("name", "The key in line %d has the same name.", line)
		}
		names[key.Name] = k.lineOf("name")
		keys = append(keys, key)
	}
	return keys
}

// scopes reads what a key opens; left out, it is the default.
func (o object) scopes() Scopes {
	var names []string
	for _, item := range o.list("scopes") {
		names = append(names, item.text)
	}
	scopes, unknown := NewScopes(names)
	if len(unknown) > 0 {
		o.wrong("scopes", "%s", UnknownScopes(unknown))
	}
	return scopes
}

// chosenKey is a key that the operator brings along, which only a sandbox
// allows: a key that has been in a file is no secret any more.
func (o object) chosenKey() Secret {
	text, ok := o.literal("key", "a text", textNode)
	if !ok {
		return ""
	}
	if o.r.rules.Environment != Sandbox {
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
