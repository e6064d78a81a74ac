package record

import "sepad/internal/payment"

type subscription = payment.Subscription

// Subscriptions is the subscription record (contract 2.13).
var Subscriptions = Columns[subscription]{
	{"id", UUID, func(s *subscription) Value { return ofID(s.ID) }},
	{"status", Text, func(s *subscription) Value { return ofText(s.Status) }},
	{"billing_amount", Minor, func(s *subscription) Value { return ofMinor(s.AmountMinor) }},
	{"currency", Text, func(s *subscription) Value { return ofText(s.Currency) }},
	{"billing_frequency", Text, func(s *subscription) Value { return ofText(s.Frequency) }},
	{"start_date", Instant, func(s *subscription) Value { return ofInstant(s.StartedAt) }},
	{"next_billing_date", Date, func(s *subscription) Value { return ofDate(s.NextBillingDate) }},
	{"last_billing_date", Instant, func(s *subscription) Value { return ofInstant(s.LastBilledAt) }},
	{"cancelled_at", Instant, func(s *subscription) Value { return ofInstant(s.CancelledAt) }},
	{"trial_end_date", Date, func(s *subscription) Value { return ofDate(s.TrialEndDate) }},
	{"billing_anchor_date", Date, func(s *subscription) Value { return ofDate(s.Anchor()) }},
	{"successful_billing_count", Integer, func(s *subscription) Value { return ofInteger(s.SuccessfulCount) }},
	{"failed_billing_count", Integer, func(s *subscription) Value { return ofInteger(s.FailedCount) }},
	{"total_revenue", Minor, func(s *subscription) Value { return ofMinor(s.RevenueMinor) }},
	{"order_id", UUID, func(s *subscription) Value { return ofID(s.OrderID) }},
	{"lead_id", UUID, func(s *subscription) Value { return ofID(s.LeadID) }},
	{"offer_id", UUID, func(s *subscription) Value { return ofIDIfAny(s.OfferID) }},
	{"payment_gateway_id", UUID, func(s *subscription) Value { return ofID(s.GatewayID) }},
	{"created_at", Instant, func(s *subscription) Value { return ofInstant(s.CreatedAt) }},
	{"updated_at", Instant, func(s *subscription) Value { return ofInstant(s.UpdatedAt) }},
}
