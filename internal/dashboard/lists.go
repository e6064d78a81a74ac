package dashboard

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// Cells of the kinds that lists have.

func text(s string) cell { return cell{Text: s} }

func when(at time.Time) cell { return cell{At: at} }

func money(m payment.Minor, currency string) cell {
	return cell{Text: m.String() + " " + currency, IsNumber: true}
}

func status[V ~string](s V) cell { return cell{Text: string(s), Tone: tones[string(s)]} }

// to is a value that leads to a record.
func to(kind string, id uuid.UUID, text string) cell {
	return cell{Text: text, Href: "/dashboard/" + kind + "/" + id.String() + "/"}
}

// toID is an id that leads to its record: the end tells it from others, since all begin
// with their time.
func toID(kind string, id uuid.UUID) cell {
	const end = 12
	full := to(kind, id, id.String())
	full.Brief = "…" + full.Text[len(full.Text)-end:]
	return full
}

func toIfAny(kind string, id *uuid.UUID) cell {
	if id == nil {
		return cell{}
	}
	return toID(kind, *id)
}

func optionalID(id *uuid.UUID, n names) cell {
	if id == nil {
		return cell{}
	}
	return text(n.of(*id))
}

// tones colour statuses; each has its word as well.
var tones = map[string]string{
	"approved": "good", "COMPLETED": "good", "ACTIVE": "good", "delivered": "good", "completed": "good",
	"pending": "warn", "PENDING": "warn", "AWAITING_VERIFICATION": "warn", "PAST_DUE": "warn", "running": "warn",
	"declined": "bad", "charged_back": "bad", "FAILED": "bad", "failed": "bad",
	// Files for banks, and what becomes of banks' words.
	"settled": "good", "accepted": "good", "read": "good", "open": "warn", "closed": "warn", "written": "warn", "sending": "warn", "sent": "warn",
	"reading": "warn", "rejected": "bad", "partly_rejected": "bad", "returned": "bad", "unmatched": "bad", "contradicts": "bad",
}

// account is the visible end of an account.
func account(masked string) cell {
	const visible = 4
	if len(masked) < visible {
		return text(masked)
	}
	return text("…" + masked[len(masked)-visible:])
}

func (d *Dashboard) sessionList() list[listing.SessionRecord] {
	type row = listing.SessionRecord
	return list[row]{
		Name: "sessions", Title: "Sessions", Hint: "Reference, id, email, name, amount or last 4 digits",
		Empty: "No session yet. A shop makes one with POST /api/v1/payment-sessions/.",
		ID:    func(s *row) uuid.UUID { return s.ID },
		Columns: []column[row]{
			{Name: "created_at", Label: "Created", Value: func(s *row, _ names) cell { return when(s.CreatedAt) }},
			{Name: "id", Label: "Session", Value: func(s *row, _ names) cell { return toID("sessions", s.ID) }},
			{Name: "status", Label: "Status", Value: func(s *row, _ names) cell { return status(s.StatusAt(d.Checkout.Clock.Now())) }},
			{Name: "amount", Label: "Amount", Value: func(s *row, _ names) cell { return money(s.Terms.DueMinor(), s.Terms.Currency) }},
			{Name: "email", Label: "Payer", Value: func(s *row, _ names) cell { return to("leads", s.LeadID, s.Lead.Email) }},
			{Name: "order_number", Label: "Order", Value: func(s *row, _ names) cell {
				if s.Order == nil {
					return cell{}
				}
				return text(s.Order.Number)
			}},
			{Name: "campaign", Label: "Campaign", Value: func(s *row, n names) cell { return optionalID(s.CampaignID, n) }},
			{Name: "name", Label: "Name", Optional: true, Value: func(s *row, _ names) cell { return text(s.Lead.FirstName + " " + s.Lead.LastName) }},
			{Name: "billing_type", Label: "Billing", Optional: true, Value: func(s *row, _ names) cell { return text(string(s.Terms.BillingType)) }},
			{Name: "mandate_reference_id", Label: "Mandate", Optional: true, Value: func(s *row, _ names) cell { return text(s.MandateReference) }},
			{Name: "attempts_used", Label: "Attempts", Optional: true, Value: func(s *row, _ names) cell { return cell{Text: strconv.Itoa(s.AttemptsUsed), IsNumber: true} }},
			{Name: "expires_at", Label: "Expires", Optional: true, Value: func(s *row, _ names) cell { return when(s.ExpiresAt) }},
			{Name: "payment_gateway", Label: "Gateway", Optional: true, Value: func(s *row, n names) cell { return text(n.of(s.GatewayID)) }},
			{Name: "tenant", Label: "Tenant", Optional: true, Value: func(s *row, n names) cell { return text(n.of(s.TenantID)) }},
		},
		Filters: []filter{
			tenantFilter, {Name: "status", Label: "Status", Options: values(payment.SessionStatuses)}, gatewayFilter, campaignFilter,
			fromFilter, toFilter, {Name: "lead_id", Hidden: true},
		},
		Search: func(q *listQuery) source[row] {
			search := listing.SessionSearch{
				Common: q.common(), Status: chosen(q, "status", payment.SessionStatuses), Now: q.now, LeadID: q.id("lead_id"),
				CampaignID: q.id("campaign_id"), GatewayID: q.id("payment_gateway_id"),
			}
			return sourceOf(d, search, listing.SearchSessions, listing.CountSessions)
		},
	}
}

var campaignFilter = filter{Name: "campaign_id", Label: "Campaign", Options: records(
	func(s *merchant.Setup) map[uuid.UUID]merchant.Campaign { return s.Campaigns }, func(c merchant.Campaign) string { return c.Name })}

// sourceOf is a list that package listing has.
func sourceOf[F, T any](d *Dashboard, search F, read func(context.Context, *store.Store, F, listing.Paging) (listing.Part[T], error),
	count func(context.Context, *store.Store, F) (listing.Count, error),
) source[T] {
	return source[T]{
		Read: func(ctx context.Context, at listing.Paging) (listing.Part[T], error) {
			return read(ctx, d.Store, search, at)
		},
		Count: func(ctx context.Context) (listing.Count, error) { return count(ctx, d.Store, search) },
	}
}

const (
	// createdField and processedField are the days that a period is of.
	createdField, processedField = "created_at", "date_processed"
	// unknownOutcome asks for payments of which no gateway has said what became of them.
	unknownOutcome = "unknown"
)

// declineCodes are why payments were declined.
func declineCodes(*listQuery) []option {
	options := []option{{listing.Unsaid, "not said"}}
	for _, code := range payment.DeclineCodes() {
		options = append(options, option{string(code), string(code)})
	}
	return options
}

func (d *Dashboard) transactionList() list[payment.Debit] {
	type row = payment.Debit
	return list[row]{
		Name: "transactions", Title: "Transactions", Hint: "Reference, id, email, name, amount or last 4 digits",
		Empty:   "No payment yet. The sandbox pays one in a click; a shop pays with POST …/pay/.",
		ID:      func(p *row) uuid.UUID { return p.Transaction.ID },
		Columns: transactionColumns,
		Filters: []filter{
			tenantFilter, {Name: "status", Label: "Status", Options: values(payment.TransactionStatuses)},
			{Name: "type", Label: "Type", Options: values(payment.StandardizedTypes)}, gatewayFilter, fromFilter, toFilter,
			{Name: "date_field", Label: "Days of", Rare: true, Options: values([]string{createdField, processedField})},
			{Name: "counted", Label: "Counted as", Rare: true, Options: values(listing.DayKinds)},
			{Name: "decline_code", Label: "Declined for", Rare: true, Options: declineCodes},
			{Name: "outcome", Label: "Outcome", Rare: true, Options: values([]string{unknownOutcome})},
			{Name: "session_id", Hidden: true}, {Name: "subscription_id", Hidden: true}, {Name: "currency", Hidden: true},
		},
		Search: func(q *listQuery) source[row] {
			search := listing.TransactionSearch{
				Common: q.common(), Status: chosen(q, "status", payment.TransactionStatuses), Type: chosen(q, "type", payment.StandardizedTypes),
				GatewayID: q.id("payment_gateway_id"), SessionID: q.id("session_id"), SubscriptionID: q.id("subscription_id"),
				CountedAs: chosen(q, "counted", listing.DayKinds), DeclineCode: q.Get("decline_code"), Currency: q.Get("currency"),
				ByDay:     chosen(q, "date_field", []string{createdField, processedField}) == processedField,
				IsUnknown: chosen(q, "outcome", []string{unknownOutcome}) == unknownOutcome,
			}
			return sourceOf(d, search, listing.SearchTransactions, listing.CountTransactions)
		},
	}
}

var transactionColumns = []column[payment.Debit]{
	{Name: "created_at", Label: "Created", Value: func(p *payment.Debit, _ names) cell { return when(p.Transaction.CreatedAt) }},
	{Name: "merchant_transaction_id", Label: "Transaction", Value: func(p *payment.Debit, _ names) cell {
		return to("transactions", p.Transaction.ID, p.Transaction.MerchantTransactionID)
	}},
	{Name: "type", Label: "Type", Value: func(p *payment.Debit, _ names) cell { return text(string(p.Transaction.Type)) }},
	{Name: "status", Label: "Status", Value: func(p *payment.Debit, _ names) cell { return status(p.Transaction.Status) }},
	{Name: "amount", Label: "Amount", Value: func(p *payment.Debit, _ names) cell { return money(p.Transaction.AmountMinor, p.Transaction.Currency) }},
	{Name: "iban", Label: "Account", Value: func(p *payment.Debit, _ names) cell { return account(p.Transaction.MaskedIBAN) }},
	{Name: "iban_holder_name", Label: "Holder", Value: func(p *payment.Debit, _ names) cell { return text(p.Transaction.HolderName) }},
	{Name: "payment_gateway", Label: "Gateway", Value: func(p *payment.Debit, n names) cell { return text(n.of(p.Transaction.GatewayID)) }},
	{Name: "email", Label: "Email", Optional: true, Value: func(p *payment.Debit, _ names) cell { return text(p.Transaction.Email) }},
	{Name: "error", Label: "Decline", Optional: true, Value: func(p *payment.Debit, _ names) cell {
		if p.Transaction.Decline == nil {
			return cell{}
		}
		return text(string(p.Transaction.Decline.Code))
	}},
	{Name: "refunded_amount", Label: "Refunded", Optional: true, Value: func(p *payment.Debit, _ names) cell {
		return money(p.Transaction.RefundedMinor, p.Transaction.Currency)
	}},
	{Name: "tenant_reference_id", Label: "Merchant's reference", Optional: true, Value: func(p *payment.Debit, _ names) cell {
		if p.Transaction.TenantReferenceID == nil {
			return cell{}
		}
		return text(*p.Transaction.TenantReferenceID)
	}},
	{Name: "adapter_unique_id", Label: "Gateway's reference", Optional: true, Value: func(p *payment.Debit, _ names) cell { return text(p.Transaction.GatewayReference) }},
	{Name: "mandate_reference_id", Label: "Mandate", Optional: true, Value: func(p *payment.Debit, _ names) cell { return text(p.Transaction.MandateReference) }},
	{Name: "order_number", Label: "Order", Optional: true, Value: func(p *payment.Debit, _ names) cell {
		if p.Order == nil {
			return cell{}
		}
		return text(p.Order.Number)
	}},
	{Name: "source", Label: "Source", Optional: true, Value: func(p *payment.Debit, _ names) cell { return text(string(p.Transaction.Source)) }},
	{Name: "date_processed", Label: "Processed", Optional: true, Value: func(p *payment.Debit, _ names) cell { return when(p.Transaction.ProcessedAt) }},
	{Name: "id", Label: "Id", Optional: true, Value: func(p *payment.Debit, _ names) cell { return text(p.Transaction.ID.String()) }},
	{Name: "tenant", Label: "Tenant", Optional: true, Value: func(p *payment.Debit, n names) cell { return text(n.of(p.Transaction.TenantID)) }},
}

func (d *Dashboard) chargebackList() list[payment.Chargeback] {
	type row = payment.Chargeback
	return list[row]{
		Name: "chargebacks", Title: "Chargebacks", Hint: "Reference, id, email, name, amount or last 4 digits",
		Empty: "No chargeback. Banks' returns come by file or notification; one can be recorded by hand on the page of its payment.",
		ID:    func(c *row) uuid.UUID { return c.ID },
		Columns: []column[row]{
			{Name: "report_date", Label: "Reported", Value: func(c *row, _ names) cell { return when(c.ReportedAt) }},
			{Name: "merchant_transaction_id", Label: "Chargeback of", Value: func(c *row, _ names) cell { return to("chargebacks", c.ID, c.MerchantTransactionID) }},
			{Name: "amount", Label: "Amount", Value: func(c *row, _ names) cell { return money(c.AmountMinor, c.Currency) }},
			{Name: "reason_code", Label: "Reason", Value: func(c *row, _ names) cell { return text(c.ReasonCode) }},
			{Name: "reason_message", Label: "Meaning", Value: func(c *row, _ names) cell { return text(c.ReasonMessage) }},
			{Name: "iban", Label: "Account", Value: func(c *row, _ names) cell { return account(c.MaskedIBAN) }},
			{Name: "source", Label: "Source", Value: func(c *row, _ names) cell { return text(string(c.Source)) }},
			{Name: "transaction_id", Label: "Payment", Optional: true, Value: func(c *row, _ names) cell { return toIfAny("transactions", c.TransactionID) }},
			{Name: "email", Label: "Email", Optional: true, Value: func(c *row, _ names) cell { return text(c.Email) }},
			{Name: "payment_gateway", Label: "Gateway", Optional: true, Value: func(c *row, n names) cell { return text(n.of(c.GatewayID)) }},
			{Name: "id", Label: "Id", Optional: true, Value: func(c *row, _ names) cell { return text(c.ID.String()) }},
			{Name: "tenant", Label: "Tenant", Optional: true, Value: func(c *row, n names) cell { return text(n.of(c.TenantID)) }},
		},
		Filters: []filter{
			tenantFilter, {Name: "source", Label: "Source", Options: values(payment.ChargebackSources)}, {Name: "reason_code", Label: "Reason code"},
			gatewayFilter, fromFilter, toFilter, {Name: "transaction_id", Hidden: true}, {Name: "currency", Hidden: true},
		},
		Search: func(q *listQuery) source[row] {
			search := listing.ChargebackSearch{
				Common: q.common(), Source: chosen(q, "source", payment.ChargebackSources), ReasonCode: q.Get("reason_code"),
				GatewayID: q.id("payment_gateway_id"), TransactionID: q.id("transaction_id"), ByDay: true, Currency: q.Get("currency"),
			}
			return sourceOf(d, search, listing.SearchChargebacks, listing.CountChargebacks)
		},
	}
}

// dueNow asks for subscriptions that are to be billed by now.
const dueNow = "now"

func (d *Dashboard) subscriptionList() list[payment.Subscription] {
	type row = payment.Subscription
	return list[row]{
		Name: "subscriptions", Title: "Subscriptions", Hint: "Reference, id, email, name, amount or last 4 digits",
		Empty: "No subscription yet. Whoever pays for a recurring offer has one.",
		ID:    func(s *row) uuid.UUID { return s.ID },
		Columns: []column[row]{
			{Name: "created_at", Label: "Created", Value: func(s *row, _ names) cell { return when(s.CreatedAt) }},
			{Name: "id", Label: "Subscription", Value: func(s *row, _ names) cell { return toID("subscriptions", s.ID) }},
			{Name: "status", Label: "Status", Value: func(s *row, _ names) cell {
				if !s.PausedAt.IsZero() {
					return cell{Text: string(s.Status) + ", paused", Tone: "warn"}
				}
				return status(s.Status)
			}},
			{Name: "billing_amount", Label: "Amount", Value: func(s *row, _ names) cell { return money(s.AmountMinor, s.Currency) }},
			{Name: "billing_frequency", Label: "Rhythm", Value: func(s *row, _ names) cell { return text(string(s.Frequency)) }},
			{Name: "next_billing_date", Label: "Next billing", Value: func(s *row, _ names) cell { return text(s.NextBillingDate.String()) }},
			{Name: "successful_billing_count", Label: "Billed", Value: func(s *row, _ names) cell { return cell{Text: strconv.Itoa(s.SuccessfulCount), IsNumber: true} }},
			{Name: "total_revenue", Label: "Revenue", Value: func(s *row, _ names) cell { return money(s.RevenueMinor, s.Currency) }},
			{Name: "mandate_reference_id", Label: "Mandate", Optional: true, Value: func(s *row, _ names) cell { return text(s.MandateReference) }},
			{Name: "lead_id", Label: "Payer", Optional: true, Value: func(s *row, _ names) cell { return toID("leads", s.LeadID) }},
			{Name: "cancelled_at", Label: "Cancelled", Optional: true, Value: func(s *row, _ names) cell { return when(s.CancelledAt) }},
			{Name: "payment_gateway", Label: "Gateway", Optional: true, Value: func(s *row, n names) cell { return text(n.of(s.GatewayID)) }},
			{Name: "tenant", Label: "Tenant", Optional: true, Value: func(s *row, n names) cell { return text(n.of(s.TenantID)) }},
		},
		Filters: []filter{
			tenantFilter, {Name: "status", Label: "Status", Options: values(payment.SubscriptionStatuses)}, gatewayFilter, fromFilter, toFilter,
			{Name: "due", Label: "Due", Rare: true, Options: values([]string{dueNow})},
		},
		Search: func(q *listQuery) source[row] {
			search := listing.SubscriptionSearch{
				Common: q.common(), Status: chosen(q, "status", payment.SubscriptionStatuses), GatewayID: q.id("payment_gateway_id"),
			}
			if chosen(q, "due", []string{dueNow}) != "" {
				search.DueBy = q.now
			}
			return sourceOf(d, search, listing.SearchSubscriptions, listing.CountSubscriptions)
		},
	}
}

func (d *Dashboard) leadList() list[listing.LeadRecord] {
	type row = listing.LeadRecord
	return list[row]{
		Name: "leads", Title: "Leads", Hint: "Email, name, reference, id or last 4 digits",
		Empty: "Nobody yet. A lead is a person for whom a shop has made a session.",
		ID:    func(l *row) uuid.UUID { return l.ID },
		Columns: []column[row]{
			{Name: "created_at", Label: "Created", Value: func(l *row, _ names) cell { return when(l.CreatedAt) }},
			{Name: "email", Label: "Email", Value: func(l *row, _ names) cell { return to("leads", l.ID, l.Email) }},
			{Name: "first_name", Label: "First name", Value: func(l *row, _ names) cell { return text(l.FirstName) }},
			{Name: "last_name", Label: "Last name", Value: func(l *row, _ names) cell { return text(l.LastName) }},
			{Name: "country", Label: "Country", Value: func(l *row, _ names) cell { return text(l.Country) }},
			{Name: "city", Label: "City", Optional: true, Value: func(l *row, _ names) cell { return text(l.City) }},
			{Name: "phone", Label: "Phone", Optional: true, Value: func(l *row, _ names) cell { return text(l.Phone) }},
			{Name: "id", Label: "Id", Optional: true, Value: func(l *row, _ names) cell { return text(l.ID.String()) }},
			{Name: "tenant", Label: "Tenant", Value: func(l *row, n names) cell { return text(n.of(l.TenantID)) }},
		},
		Filters: []filter{tenantFilter, fromFilter, toFilter},
		Search: func(q *listQuery) source[row] {
			return sourceOf(d, listing.LeadSearch{Common: q.common()}, listing.SearchLeads, listing.CountLeads)
		},
	}
}

func (d *Dashboard) mandateList() list[listing.MandateRecord] {
	type row = listing.MandateRecord
	modes := []payment.AcceptanceMode{payment.AcceptCheckbox, payment.AcceptImplicit}
	return list[row]{
		Name: "mandates", Title: "Mandates", Hint: "Mandate reference, email, name or last 4 digits",
		Empty: "No mandate yet. A payer gives one with the first payment.",
		ID:    func(m *row) uuid.UUID { return m.SessionID },
		Columns: []column[row]{
			{Name: "mandate_date", Label: "Given", Value: func(m *row, _ names) cell { return when(m.GivenAt) }},
			{Name: "mandate_reference_id", Label: "Mandate", Value: func(m *row, _ names) cell {
				return cell{Text: m.Reference, Href: "/dashboard/mandates/" + m.Reference + "/"}
			}},
			{Name: "iban_holder_name", Label: "Holder", Value: func(m *row, _ names) cell { return text(m.HolderName) }},
			{Name: "iban", Label: "Account", Value: func(m *row, _ names) cell { return account(m.MaskedIBAN) }},
			{Name: "email", Label: "Payer", Value: func(m *row, _ names) cell { return to("leads", m.LeadID, m.Email) }},
			{Name: "mandate_acceptance_mode", Label: "Acceptance", Value: func(m *row, _ names) cell { return text(string(m.AcceptanceMode)) }},
			{Name: "transaction_id", Label: "First payment", Value: func(m *row, _ names) cell { return to("transactions", m.TransactionID, "Payment") }},
			{Name: "session_id", Label: "Session", Optional: true, Value: func(m *row, _ names) cell { return toID("sessions", m.SessionID) }},
			{Name: "tenant", Label: "Tenant", Optional: true, Value: func(m *row, n names) cell { return text(n.of(m.TenantID)) }},
		},
		Filters: []filter{tenantFilter, {Name: "mandate_acceptance_mode", Label: "Acceptance", Options: values(modes)}, fromFilter, toFilter},
		Search: func(q *listQuery) source[row] {
			search := listing.MandateSearch{Common: q.common(), AcceptanceMode: chosen(q, "mandate_acceptance_mode", modes)}
			return sourceOf(d, search, listing.SearchMandates, listing.CountMandates)
		},
	}
}

// waiting asks for events that are tried again.
const waiting = "true"

func (d *Dashboard) eventList() list[listing.EventRecord] {
	type row = listing.EventRecord
	return list[row]{
		Name: "events", Title: "Events", Hint: "Event, session, payment or subscription: id or reference",
		Empty: "No event yet. Payments, chargebacks and subscriptions tell of themselves here.",
		ID:    func(e *row) uuid.UUID { return e.ID },
		Columns: []column[row]{
			{Name: "created_at", Label: "Created", Value: func(e *row, _ names) cell { return when(e.CreatedAt) }},
			{Name: "event", Label: "Event", Value: func(e *row, _ names) cell { return to("events", e.ID, string(e.Kind)) }},
			{Name: "status", Label: "Delivery", Value: func(e *row, _ names) cell {
				if e.ProfileID == nil {
					return text("goes nowhere")
				}
				return status(e.Status)
			}},
			{Name: "webhook_profile", Label: "To", Value: func(e *row, n names) cell { return optionalID(e.ProfileID, n) }},
			{Name: "attempts", Label: "Tries", Value: func(e *row, _ names) cell { return cell{Text: strconv.Itoa(e.Tries), IsNumber: true} }},
			{Name: "next_attempt_at", Label: "Next try", Value: func(e *row, _ names) cell { return when(e.NextAttemptAt) }},
			{Name: "about", Label: "About", Optional: true, Value: func(e *row, _ names) cell { return text(e.About) }},
			{Name: "id", Label: "Id", Optional: true, Value: func(e *row, _ names) cell { return text(e.ID.String()) }},
			{Name: "tenant", Label: "Tenant", Optional: true, Value: func(e *row, n names) cell { return text(n.of(e.TenantID)) }},
		},
		Filters: []filter{
			tenantFilter, {Name: "event", Label: "Event", Options: values(payment.EventKinds)},
			{Name: "status", Label: "Delivery", Options: values(store.DeliveryStatuses)}, profileFilter, fromFilter, toFilter,
			{Name: "waiting", Label: "Tried again", Rare: true, Options: values([]string{waiting})},
		},
		Search: func(q *listQuery) source[row] {
			search := listing.EventSearch{
				Common: q.common(), Kind: chosen(q, "event", payment.EventKinds), Status: chosen(q, "status", store.DeliveryStatuses),
				ProfileID: q.id("webhook_profile_id"), IsWaiting: chosen(q, "waiting", []string{waiting}) != "",
			}
			return sourceOf(d, search, listing.SearchEvents, listing.CountEvents)
		},
		Action: resendMany,
	}
}

var profileFilter = filter{Name: "webhook_profile_id", Label: "Webhook profile", Options: records(
	func(s *merchant.Setup) map[uuid.UUID]merchant.WebhookProfile { return s.WebhookProfiles }, func(p merchant.WebhookProfile) string { return p.Name })}

func (d *Dashboard) importList() list[store.Import] {
	type row = store.Import
	number := func(n int) cell { return cell{Text: strconv.Itoa(n), IsNumber: true} }
	return list[row]{
		Name: "imports", Title: "Imports", Hint: "Id of an import",
		Empty: "No file was taken in yet. Take a processor's CSV in here, with sepad import transactions, or with POST /admin/v1/imports/.",
		ID:    func(i *row) uuid.UUID { return i.ID },
		Columns: []column[row]{
			{Name: "created_at", Label: "Begun", Value: func(i *row, _ names) cell { return when(i.CreatedAt) }},
			{Name: "id", Label: "Import", Value: func(i *row, _ names) cell { return toID("imports", i.ID) }},
			{Name: "kind", Label: "Kind", Value: func(i *row, _ names) cell { return text(i.Kind) }},
			{Name: "status", Label: "Status", Value: func(i *row, _ names) cell { return status(i.Status) }},
			{Name: "new", Label: "New", Value: func(i *row, _ names) cell { return number(i.Counts.New) }},
			{Name: "updated", Label: "Updated", Value: func(i *row, _ names) cell { return number(i.Counts.Updated) }},
			{Name: "unchanged", Label: "Unchanged", Value: func(i *row, _ names) cell { return number(i.Counts.Unchanged) }},
			{Name: "rejected", Label: "Rejected", Value: func(i *row, _ names) cell { return number(i.Counts.Rejected) }},
			{Name: "gateway", Label: "Gateway", Value: func(i *row, n names) cell { return text(n.of(i.GatewayID)) }},
			{Name: "dry_run", Label: "Trial run", Optional: true, Value: func(i *row, _ names) cell { return text(strconv.FormatBool(i.IsDryRun)) }},
			{Name: "tenant", Label: "Tenant", Optional: true, Value: func(i *row, n names) cell { return text(n.of(i.TenantID)) }},
		},
		Filters: []filter{
			tenantFilter, {Name: "kind", Label: "Kind", Options: values(recon.ImportKinds)}, {Name: "status", Label: "Status", Options: values(store.ImportStatuses)},
			{Name: "gateway_id", Label: "Gateway", Options: gatewayFilter.Options}, fromFilter, toFilter,
		},
		Search: func(q *listQuery) source[row] {
			search := listing.ImportSearch{
				Common: q.common(), GatewayID: q.id("gateway_id"), Kind: string(chosen(q, "kind", recon.ImportKinds)),
				Status: chosen(q, "status", store.ImportStatuses),
			}
			return sourceOf(d, search, listing.SearchImports, listing.CountImports)
		},
		Links: []option{{importsPath + "new/", "Take a file in"}, {"/dashboard/imports/matching/", "Matching report"}},
	}
}
