package listing

import (
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// What somebody types into a search field can be meant in several ways, and each of them
// is read from an index of its own. What is known of payments alone, the account and its
// holder for one, leads to other records by way of payments: the newest ones that fit.

// words is what was typed, in every way in which it can be meant; what is zero it cannot.
type words struct {
	sepa.Masked
	ID       uuid.UUID
	EmailKey string
	Amount   payment.Minor
	// Last4 are the last digits of an account.
	Last4 string
	// References are the forms in which it may be a reference, Names those of a name.
	References, Names []any
}

// readWords takes a text for all that it can be.
func readWords(text string) (w words) {
	text = strings.Join(strings.Fields(text), " ")
	if id, err := uuid.Parse(text); err == nil {
		w.ID = id
		return w
	}
	if strings.Contains(text, "@") {
		w.EmailKey = payment.Lead{Email: text}.EmailKey()
		return w
	}
	if minor, err := payment.ParseMinor(amountText(text)); err == nil {
		w.Amount = minor
	}
	const digits = 4
	whole := strings.ReplaceAll(text, " ", "")
	if iban, err := sepa.ParseIBAN(whole); err == nil {
		w.Last4 = iban.Last4()
		return w
	}
	if tail := strings.TrimLeft(whole, "*…•."); len(tail) == digits && isAlphanumeric(tail) {
		w.Last4 = strings.ToUpper(tail)
	}
	w.References = distinct(text, strings.ToUpper(text))
	if strings.ContainsFunc(text, unicode.IsLetter) {
		w.Names = distinct(strings.ToLower(text), lowerASCII(text), lowerASCII(capitals(text)))
	}
	return w
}

// amountText is an amount as people type it: with a sign of its currency, with a comma.
func amountText(text string) string {
	text = strings.TrimSpace(strings.Trim(strings.TrimSuffix(strings.ToUpper(text), "EUR"), "€ "))
	if !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1)
	}
	return text
}

func isAlphanumeric(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// lowerASCII is how SQLite writes small letters; PostgreSQL knows others too.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII {
			return unicode.ToLower(r)
		}
		return r
	}, text)
}

// capitals begins every word with a capital letter.
func capitals(text string) string {
	previous := ' '
	return strings.Map(func(r rune) rune {
		defer func() { previous = r }()
		if previous == ' ' || previous == '-' {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, text)
}

func distinct(texts ...string) (all []any) {
	for _, text := range texts {
		if !slices.Contains(all, any(text)) {
			all = append(all, text)
		}
	}
	return all
}

// oneOf is a condition on a column that may have any of some values; none for no values.
func oneOf(column string, values []any) []condition {
	if len(values) == 0 {
		return nil
	}
	return []condition{{text: column + " IN (" + strings.TrimSuffix(strings.Repeat("$%d, ", len(values)), ", ") + ")", args: values}}
}

// eachOf are conditions on a column, one for each value: an index that goes on in the
// order of the list serves one value at a time.
func eachOf(column string, values []any) (all []condition) {
	for _, value := range values {
		all = append(all, condition{text: column + " = $%d", args: []any{value}})
	}
	return all
}

// inside puts a condition into a place that is marked with a ?.
func inside(place string, all []condition) []condition {
	wrapped := make([]condition, len(all))
	for i, c := range all {
		wrapped[i] = condition{text: strings.Replace(place, "?", c.text, 1), args: c.args}
		if strings.Contains(place, leadsFound) {
			wrapped[i].found = append(wrapped[i].found, strings.Replace(leadsFound, "?", c.text, 1))
		}
		if payments, _, isBounded := strings.Cut(place, newestFound); isBounded {
			payments = payments[strings.Index(payments, "(SELECT x."):] + newestFound
			wrapped[i].found = append(wrapped[i].found, strings.Replace(payments, "?", c.text, 1))
		}
	}
	return wrapped
}

// payments are the conditions on a payment, under the name x, each of which finds it by
// an index.
func (w words) payments() []condition {
	return slices.Concat(
		when("x.id = $%d", w.ID),
		eachOf("x.merchant_transaction_id", w.References),
		inside(foundIn("x", "transactions", "y.gateway_reference <> '' AND ?"), eachOf("y.gateway_reference", w.References)),
		inside("x.mandate_reference <> '' AND ?", eachOf("x.mandate_reference", w.References)),
		when("x.iban_masked <> '' AND substr(x.iban_masked, length(x.iban_masked) - 3) = $%d", w.Last4),
		when("x.amount_minor = $%d", w.Amount),
		eachOf("lower(x.holder_name)", w.Names),
	)
}

// leads are those on a lead, under the name p.
func (w words) leads() []condition {
	return slices.Concat(when("p.id = $%d", w.ID), when("p.email_key = $%d", w.EmailKey), eachOf("lower(p.last_name)", w.Names),
		w.fullNames())
}

// mostWords bounds the words of a full name.
const mostWords = 8

// fullNames are conditions on first name and surname together, one for each word with which the surname may begin: by
// the surname they are found, so that a new lead needs no index for both.
func (w words) fullNames() (all []condition) {
	const whole = "lower(p.last_name) = $%d AND lower(p.first_name || ' ' || p.last_name) = $%d"
	for _, name := range w.Names {
		name := name.(string)
		_, surname, more := strings.Cut(name, " ")
		for word := 1; more && word < mostWords; word++ {
			all = append(all, condition{text: whole, args: []any{surname, name}})
			_, surname, more = strings.Cut(surname, " ")
		}
	}
	return all
}

// Ways from what was found to what belongs to it, at most mostFound: whoever gets more has
// not said enough yet, and the list's count says that there is more.
const (
	mostFound   = 100
	newestFound = ` ORDER BY x.id DESC LIMIT 100)`
	leadsFound  = `(SELECT p.id FROM leads p WHERE p.tenant_id = $1 AND ? ORDER BY p.id DESC LIMIT 100)`
	// ordersOfLeads are their purchases.
	ordersOfLeads = `(SELECT b.id FROM sessions v JOIN orders b ON b.tenant_id = v.tenant_id AND b.session_id = v.id
		WHERE v.tenant_id = $1 AND v.lead_id IN ` + leadsFound + `)`
)

// ordersNamed are those with a number, paymentsFound a column of the payments that were found, paymentsOfLeads those of leads.
const (
	ordersNamed     = `(SELECT b.id FROM orders b WHERE b.tenant_id = $1 AND ?)`
	paymentsOfOrder = `(SELECT x.id FROM orders b JOIN transactions x ON x.tenant_id = b.tenant_id AND x.order_id = b.id WHERE b.tenant_id = $1 AND ?)`
	paymentsOfLeads = `(SELECT x.id FROM ` + ordersOfLeads + ` w CROSS JOIN transactions x WHERE x.tenant_id = $1 AND x.order_id = w.id` + newestFound
)

func paymentsFound(column string) string {
	return `(SELECT x.` + column + ` AS id FROM transactions x WHERE x.tenant_id = $1 AND ?` + newestFound
}

// foundIn are the records of a table, under a name, that a condition on y finds by an index in which they are not in order. SQLite,
// which takes any tenant for a small one, would otherwise read all that the tenant has in order.
func foundIn(name, table, condition string) string {
	return name + `.id IN (SELECT y.id FROM ` + table + ` y WHERE y.tenant_id = $1 AND ` + condition + `)`
}

// of are those whose column is one of the ids that a query gives. SQLite begins with what stands before a CROSS JOIN.
func of(name, table, column, found string) string {
	return foundIn(name, found+` f CROSS JOIN `+table, `y.`+column+` = f.id`)
}

// only makes a way of a condition that an index serves, passing one of a condition that
// is held against one record after the other.
func only(all []condition) (ways []conditions) {
	for _, c := range all {
		ways = append(ways, conditions{indexed: []condition{c}})
	}
	return ways
}

func passing(all []condition) (ways []conditions) {
	for _, c := range all {
		ways = append(ways, conditions{passing: []condition{c}})
	}
	return ways
}

// waysOf are the ways to what was typed, each narrowed by what else is asked for; where
// nothing was typed, there is one.
func waysOf(text string, also conditions, ways func(words) []conditions) []conditions {
	if strings.TrimSpace(text) == "" {
		return []conditions{also}
	}
	all := ways(readWords(text))
	for i, way := range all {
		all[i] = conditions{slices.Concat(way.indexed, also.indexed), slices.Concat(way.passing, also.passing)}
	}
	return all
}

func (f TransactionSearch) ways() []conditions {
	return waysOf(f.Text, f.conditions(), func(w words) []conditions {
		return slices.Concat(
			only(named("t", w.payments())),
			only(when("t.order_id = $%d", w.ID)),
			only(when("t.order_id = (SELECT b.id FROM orders b WHERE b.tenant_id = $1 AND b.session_id = $%d)", w.ID)),
			only(when("t.order_id = (SELECT b.order_id FROM subscriptions b WHERE b.tenant_id = $1 AND b.id = $%d)", w.ID)),
			only(inside(of("t", "transactions", "order_id", ordersNamed), oneOf("b.order_number", w.References))),
			only(inside(of("t", "transactions", "order_id", ordersOfLeads), w.leads())),
			only(when(foundIn("t", "transactions", "y.lead_id IS NULL AND y.email <> '' AND lower(y.email) = $%d"), w.EmailKey)),
			only(references("t.id IN "+transactionsOfReference, w)),
		)
	})
}

// named gives a payment another name than x.
func named(name string, all []condition) []condition {
	for i := range all {
		all[i].text = strings.ReplaceAll(all[i].text, "x.", name+".")
	}
	return all
}

// references is a condition on each form of a reference.
func references(text string, w words) (all []condition) {
	for _, reference := range w.References {
		all = append(all, condition{text: text, args: []any{reference}})
	}
	return all
}

// sessionWays lead to sessions, and to the mandates that were given in them.
func sessionWays(w words) []conditions {
	return slices.Concat(
		only(when("s.id = $%d", w.ID)),
		only(when("s.id = (SELECT b.session_id FROM orders b WHERE b.tenant_id = $1 AND b.id = $%d)", w.ID)),
		only(inside(of("s", "sessions", "lead_id", leadsFound), w.leads())),
		only(inside("s.id IN (SELECT b.session_id FROM orders b WHERE b.tenant_id = $1 AND ?)", oneOf("b.order_number", w.References))),
		only(references("s.id IN "+sessionsOfReference, w)),
		only(inside("s.id IN "+paymentsFound("session_id"), w.payments())),
	)
}

func (f SessionSearch) ways() []conditions { return waysOf(f.Text, f.conditions(), sessionWays) }

func (f ChargebackSearch) ways() []conditions {
	return waysOf(f.Text, f.conditions(), func(w words) []conditions {
		return slices.Concat(
			only(when("c.id = $%d", w.ID)),
			only(eachOf("c.merchant_transaction_id", w.References)),
			only(inside(of("c", "chargebacks", "transaction_id", paymentsFound("id")), w.payments())),
			only(inside(of("c", "chargebacks", "transaction_id", paymentsOfLeads), w.leads())),
			only(inside(of("c", "chargebacks", "transaction_id", paymentsOfOrder), oneOf("b.order_number", w.References))),
			only(when("c.email <> '' AND lower(c.email) = $%d", w.EmailKey)),
			only(inside("c.gateway_reference <> '' AND ?", eachOf("c.gateway_reference", w.References))),
		)
	})
}

func (f SubscriptionSearch) ways() []conditions {
	return waysOf(f.Text, f.conditions(), func(w words) []conditions {
		return slices.Concat(
			only(when("u.id = $%d", w.ID)),
			only(when("u.order_id = $%d", w.ID)),
			only(when("u.order_id = (SELECT b.id FROM orders b WHERE b.tenant_id = $1 AND b.session_id = $%d)", w.ID)),
			only(inside(of("u", "subscriptions", "order_id", ordersOfLeads), w.leads())),
			only(inside(of("u", "subscriptions", "order_id", ordersNamed), oneOf("b.order_number", w.References))),
			only(inside(of("u", "subscriptions", "order_id", paymentsFound("order_id")), w.payments())),
			only(when("u.amount_minor = $%d", w.Amount)),
		)
	})
}

func (f LeadSearch) ways() []conditions {
	return waysOf(f.Text, f.conditions(), func(w words) []conditions {
		leads := w.leads()
		for i := range leads {
			leads[i].text = strings.ReplaceAll(leads[i].text, "p.", "l.")
		}
		return slices.Concat(only(leads), only(inside("l.id IN "+paymentsFound("lead_id"), w.payments())))
	})
}
