package timeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/record"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

func money(m payment.Minor, currency string) string { return m.String() + " " + currency }

// gateway is what people call a gateway account.
func (s *story) gateway(id uuid.UUID) string {
	return cmp.Or(s.setup.Gateways[id].Name, "a gateway that is no more")
}

func (s *story) profile(id uuid.UUID) string {
	return cmp.Or(s.setup.WebhookProfiles[id].Name, "a webhook profile that is no more")
}

// lead tells when somebody became known; who that is, their page says.
func (s *story) lead(l listing.LeadRecord) {
	s.add(Entry{At: l.CreatedAt, Kind: Request, Text: "The payer became known.", Object: Object{"lead", l.ID.String()}})
}

// taking tells of a file that was taken in, as far as it has come.
func (s *story) taking(i store.Import) {
	of := Object{"import", i.ID.String()}
	text := "A file of " + i.Kind + " came from " + s.gateway(i.GatewayID)
	if i.IsDryRun {
		text += ", as a trial"
	}
	s.add(Entry{At: i.CreatedAt, Kind: Request, Text: text + ".", Object: of})
	text = fmt.Sprintf("%d lines new, %d updated, %d unchanged, %d rejected", i.Counts.New, i.Counts.Updated, i.Counts.Unchanged, i.Counts.Rejected)
	s.add(Entry{At: i.UpdatedAt, Kind: State, Text: "The import is " + string(i.Status) + ": " + text + ".", Object: of})
}

// session tells how a purchase began and, where that belongs to the story, how it ended.
func (s *story) session(r listing.SessionRecord, hasEnd bool) {
	of := Object{"session", r.ID.String()}
	text := "A session was made: " + money(r.Terms.DueMinor(), r.Terms.Currency) + " due"
	if r.Terms.Frequency != "" {
		text += ", then " + money(r.Terms.PriceMinor, r.Terms.Currency) + " " + strings.ToLower(string(r.Terms.Frequency))
	}
	if r.CampaignID != nil {
		if name := s.setup.Campaigns[*r.CampaignID].Name; name != "" {
			text += ", in the campaign " + name
		}
	}
	s.add(Entry{At: r.CreatedAt, Kind: Request, Text: text + ".", Object: of, Data: raw(map[string]any{
		"billing_type": r.Terms.BillingType, "mandate_reference_id": r.MandateReference, "mandate_acceptance_mode": r.AcceptanceMode,
		"max_payment_attempts": r.MaxAttempts, "expires_at": r.ExpiresAt.UTC().Format(time.RFC3339),
	})})
	if hasEnd && r.IsOver() {
		s.add(Entry{At: r.UpdatedAt, Kind: State, Text: "The session is " + string(r.Status) + ".", Object: of})
	}
}

func (s *story) subscription(u payment.Subscription) {
	of := Object{"subscription", u.ID.String()}
	text := "The subscription began: " + money(u.AmountMinor, u.Currency)
	if u.Frequency != "" {
		text += " " + strings.ToLower(string(u.Frequency))
	}
	s.add(Entry{At: u.StartedAt, Kind: State, Text: text + ".", Object: of, Data: record.AppendSubscription(nil, u)})
	if !u.CancelledAt.IsZero() {
		text := "The subscription was cancelled: " + strings.ReplaceAll(string(u.CancelReason), "_", " ")
		if u.CancelCode != "" {
			text += " (" + u.CancelCode + ")"
		}
		s.add(Entry{At: u.CancelledAt, Kind: State, Text: text + ".", Object: of})
	}
}

// payment tells of a try to move money, and of the first answer to it.
func (s *story) payment(p payment.Debit, first payment.TransactionStatus) {
	t := p.Transaction
	of := Object{"transaction", t.ID.String()}
	data := record.AppendDebit(nil, p)
	s.add(Entry{At: t.CreatedAt, Kind: Attempt, Text: s.attempt(t), Object: of, Data: data})
	if t.VerificationReference != "" {
		s.add(Entry{At: t.CreatedAt, Kind: Gateway, Text: "The gateway asks the payer to confirm the mandate.", Object: of})
	}
	switch {
	case !t.ProcessedAt.IsZero():
		s.add(Entry{At: t.ProcessedAt, Kind: Gateway, Text: answer(t, first), Object: of, Data: raw(answered(t, first))})
	case t.Decline != nil:
		s.add(Entry{At: t.UpdatedAt, Kind: Gateway, Text: "Nothing was sent: " + t.Decline.Words(), Object: of})
	case t.InFlight() && t.Attempt.LookupCount > 0:
		s.add(Entry{At: t.UpdatedAt, Kind: Gateway, Object: of, Text: fmt.Sprintf(
			"The gateway has not said what became of it. It has been asked %d times, and is being asked again.", t.Attempt.LookupCount)})
	}
}

// answered is what the gateway said.
func answered(t payment.Transaction, first payment.TransactionStatus) map[string]any {
	said := map[string]any{"adapter_unique_id": t.GatewayReference, "status": first}
	if t.Decline != nil {
		said["code"], said["gateway_code"], said["gateway_message"] = t.Decline.Code, t.Decline.GatewayCode, t.Decline.GatewayMessage
	}
	return said
}

func (s *story) attempt(t payment.Transaction) string {
	sum, through := money(t.AmountMinor, t.Currency), ", through "+s.gateway(t.GatewayID)+"."
	from := ""
	if t.MaskedIBAN != "" {
		from = " from the account ending in " + t.IBANLast4()
	}
	switch {
	case t.Type == payment.Refund:
		return "A refund of " + sum + " was sent" + through
	case t.Type == payment.Mandate:
		return "A mandate was set up" + from + through
	case t.Type == payment.Rebill:
		return "A rebill: " + sum + from + through
	case t.SessionID == nil:
		return "A report brought in a payment of " + sum + from + through
	default:
		return fmt.Sprintf("Attempt %d: %s%s%s", max(1, t.Attempt.Number), sum, from, through)
	}
}

func answer(t payment.Transaction, first payment.TransactionStatus) string {
	then := t
	then.Status = first
	text := "The gateway approved"
	switch {
	case then.IsDeclined():
		text = "The gateway declined"
		if t.Decline != nil {
			text += ": " + string(t.Decline.Code)
			if t.Decline.GatewayCode != "" {
				text += " (" + t.Decline.GatewayCode + ")"
			}
		}
	case !then.IsDecided():
		text = "The gateway took it in"
		if !t.DueDate.IsZero() {
			text += ", to be collected on " + t.DueDate.String()
		}
	}
	return text + "."
}

func (s *story) agreement(a listing.Agreement) {
	s.add(Entry{At: a.AcceptedAt, Kind: Request, Text: "The payer agreed to the mandate on the payment page.", Actor: "payer", Object: Object{"transaction", a.TransactionID.String()},
		Data: raw(map[string]any{"mandate_acceptance_mode": a.Mode, "language": a.Language, "text_version": a.TextVersion})})
}

func (s *story) chargeback(c payment.Chargeback) {
	text := "Charged back: " + money(c.AmountMinor, c.Currency)
	if c.ReasonCode != "" {
		text += ", " + c.ReasonCode
	}
	if c.ReasonMessage != "" {
		text += " (" + strings.TrimSuffix(c.ReasonMessage, ".") + ")"
	}
	s.add(Entry{At: c.ReportedAt, Kind: Bank, Text: text + ".", Object: Object{"chargeback", c.ID.String()}, Data: record.Chargebacks.AppendJSON(nil, &c)})
}

func (s *story) bankLine(l store.BankLine) {
	day, err := payment.ParseDate(l.BookingDate)
	if err != nil {
		return
	}
	text := "The bank's " + l.Source + " says: " + l.Kind + ", " + money(l.AmountMinor, l.Currency)
	if l.Reason != "" {
		text += ", " + l.Reason
	}
	s.add(Entry{At: day.Start(), Kind: Bank, Text: text + ".", Object: Object{"bank_entry", l.ID.String()}, Data: raw(map[string]any{
		"statement_id": l.StatementID, "booking_date": l.BookingDate, "result": l.Result, "is_credit": l.IsCredit,
	})})
}

func (s *story) mail(m store.Mail) {
	of := Object{"mail", m.ID.String()}
	if !m.SentAt.IsZero() {
		s.add(Entry{At: m.SentAt, Kind: Delivery, Text: "A mail told the payer of the debit on " + m.DueDate.String() + ".", Object: of, after: m.CreatedAt})
		return
	}
	s.add(Entry{At: m.CreatedAt, Kind: Delivery, Text: "A mail to the payer is " + string(m.Status) + ".", Object: of, Data: raw(map[string]any{"result": m.Result})})
}

// event tells of an event, of the change of status that it reports, and of each try to
// deliver it.
func (s *story) event(e listing.EventTold) {
	of := Object{"event", e.ID.String()}
	if change := changeIn(e.Payload); e.Kind == payment.EventTransactionStatusChanged && change.previous != "" {
		s.add(Entry{At: e.CreatedAt, Kind: State, Text: "The payment was " + string(change.previous) + " and is " + string(change.status) + ".", Object: Object{"transaction", e.About}})
	}
	text := string(e.Kind) + " goes to nobody."
	if e.ProfileID != nil {
		text = string(e.Kind) + " for " + s.profile(*e.ProfileID) + "."
	}
	s.add(Entry{At: e.CreatedAt, Kind: Event, Text: text, Object: of, Data: json.RawMessage(e.Payload)})
	for _, a := range e.Attempts {
		said := fmt.Sprintf("Try %d of %s: answered %d after %d ms.", a.Number, e.Kind, a.StatusCode, a.Took.Milliseconds())
		if a.StatusCode == 0 {
			said = fmt.Sprintf("Try %d of %s failed: %s", a.Number, e.Kind, a.Error)
		}
		s.add(Entry{At: a.At, Kind: Delivery, Text: said, Object: of, after: e.CreatedAt, Data: raw(map[string]any{
			"number": a.Number, "status": a.StatusCode, "error": a.Error, "answer": a.Answer, "duration_ms": a.Took.Milliseconds(),
		})})
	}
}

// deeds are what people and programs do, in words.
var deeds = map[string]string{
	"refund.create": "A refund was asked for.", "chargeback.create": "A chargeback was recorded by hand.",
	"subscription.cancel": "The subscription was cancelled.", "subscription.pause": "The subscription was paused.",
	"subscription.resume": "The subscription was resumed.", "subscription.change": "The subscription was changed.",
	"mandate.view": "The evidence of the mandate was looked at.", "session.cancel": "The session was cancelled.",
	"delivery.resend": "The event was sent again by hand.", "mail.resend": "The mail was sent again by hand.",
	"collection.hold": "The collection was held back.", "collection.release": "The collection was released.",
	"import.create": "The file was handed in.", "lead.export": "What is known of the payer was exported.", "lead.erase": "What names the payer was erased.",
	"bank_entry.assign": "A line of the bank was assigned to the payment.",
}

func (s *story) deed(d store.AuditEntry) {
	data := map[string]any{"action": d.Action}
	for name, text := range map[string]*string{"before": d.Before, "after": d.After} {
		if text != nil {
			data[name] = json.RawMessage(*text)
		}
	}
	s.add(Entry{At: d.At, Kind: Action, Text: cmp.Or(deeds[d.Action], d.Action), Actor: d.Actor.Name, Object: Object{d.ObjectType, d.ObjectID}, Data: raw(data)})
}
