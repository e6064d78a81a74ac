package merchant

import "sepad/internal/payment"

// recordForm is how records of a kind are read, in a file and in a call.
type recordForm[T any] struct {
	read func(o object, tenant int) T
	keys []string
}

var (
	tenantForm  = recordForm[Tenant]{object.tenant, []string{"id", "name", "creditor", "notices", "allowed_origins"}}
	gatewayForm = recordForm[GatewayAccount]{object.gateway, []string{
		"id", "name", "adapter", "test_mode", "descriptor", "settings", "active",
	}}
	profileForm = recordForm[WebhookProfile]{object.webhookProfile, []string{
		"id", "name", "url", "signing_secret", "events", "payload", "default", "active",
	}}
	pageForm = recordForm[HostedPage]{object.hostedPage, []string{
		"id", "name", "branding", "content", "show_product_name", "show_product_price", "show_product_description",
		"success_redirect_url", "failure_redirect_url", "links", "active",
	}}
	offerForm = recordForm[Offer]{object.offer, []string{
		"id", "name", "price", "currency", "billing_type", "billing_frequency", "trial_period", "trial_interval_unit",
		"trial_price", "product_name", "product_description", "active",
	}}
	campaignForm = recordForm[Campaign]{object.campaign, []string{
		"id", "name", "offer_id", "gateway_id", "hosted_page_id", "webhook_profile_id", "max_payment_attempts",
		"mandate_acceptance_mode", "session_ttl", "dunning_days", "chargeback_keeps_subscription", "offer_overrides", "active",
	}}
)

// ReadTenant reads a tenant's own fields. As with all kinds, the error names
// every bad field.
func (rules Rules) ReadTenant(fields Fields) (Tenant, error) {
	return readRecord(rules, fields, tenantForm)
}

// ReadGateway reads a gateway account.
func (rules Rules) ReadGateway(fields Fields) (GatewayAccount, error) {
	return readRecord(rules, fields, gatewayForm)
}

// ReadWebhookProfile reads a webhook profile.
func (rules Rules) ReadWebhookProfile(fields Fields) (WebhookProfile, error) {
	return readRecord(rules, fields, profileForm)
}

// ReadHostedPage reads a hosted page.
func (rules Rules) ReadHostedPage(fields Fields) (HostedPage, error) {
	return readRecord(rules, fields, pageForm)
}

// ReadOffer reads an offer.
func (rules Rules) ReadOffer(fields Fields) (Offer, error) {
	return readRecord(rules, fields, offerForm)
}

// ReadCampaign reads a campaign. Whether what it refers to is there, only the
// tenant's set-up can tell.
func (rules Rules) ReadCampaign(fields Fields) (Campaign, error) {
	return readRecord(rules, fields, campaignForm)
}

// readRecord reads one record as it stands in a call.
func readRecord[T any](rules Rules, fields Fields, form recordForm[T]) (record T, err error) {
	from, err := fieldsNode(fields)
	if err != nil {
		return record, err
	}
	r := newReader(rules)
	if o, ok := r.object(from, "", form.keys...); ok {
		record = form.read(o, 0)
	}
	return record, FieldErrors(r.mistakes)
}

// FieldErrors are the mistakes of a call: one sentence for each bad field.
func FieldErrors(mistakes []Mistake) error {
	bad := payment.Fields{}
	for _, mistake := range mistakes {
		if _, told := bad[mistake.Path]; !told {
			bad.Add(mistake.Path, mistake.Sentence)
		}
	}
	return bad.Err()
}
