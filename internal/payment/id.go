package payment

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// NewID is a UUIDv7: unique everywhere, and growing with time so that the
// newest rows lie together in an index.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// idAfter is a new id that is greater than another, nil for none. That one may have been made by a machine whose clock is
// ahead, or was until it was put right.
func idAfter(other *uuid.UUID) uuid.UUID {
	id := NewID()
	if other == nil || bytes.Compare(id[:], other[:]) > 0 {
		return id
	}
	const milliseconds = 6 // the bytes that say when
	at := binary.BigEndian.Uint64(append([]byte{0, 0}, other[:milliseconds]...)) + 1
	copy(id[:milliseconds], binary.BigEndian.AppendUint64(nil, at)[2:])
	return id
}

const (
	// TokenPrefix marks a session token in an Authorization header.
	TokenPrefix = "ps_"
	// TokenLength is the length of every session token (contract 2.3).
	TokenLength = 47

	tokenRandomBytes = 29
	tokenTenantBytes = 4
)

// NewToken makes a session token. To everyone outside it is opaque; we find the
// tenant's short number in its last four bytes, so that a call that carries
// nothing but the token reaches one tenant's rows directly.
func NewToken(tenantNumber uint32) string {
	raw := make([]byte, tokenRandomBytes, tokenRandomBytes+tokenTenantBytes)
	rand.Read(raw)
	raw = binary.BigEndian.AppendUint32(raw, tenantNumber)
	return TokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

// TokenTenant gives the short tenant number in a token, and false for a text
// that cannot be one of ours.
func TokenTenant(token string) (uint32, bool) {
	if len(token) != TokenLength || token[:len(TokenPrefix)] != TokenPrefix {
		return 0, false
	}
	// The decoder passes over line breaks, so that the length is looked at again.
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token[len(TokenPrefix):])
	if err != nil || len(raw) != tokenRandomBytes+tokenTenantBytes {
		return 0, false
	}
	return binary.BigEndian.Uint32(raw[tokenRandomBytes:]), true
}

// ShortToken is what logs and traces may show of a token.
func ShortToken(token string) string { return token[:min(len(token), 7)] }

// NewMerchantTransactionID is the reference by which a gateway knows a payment.
func NewMerchantTransactionID(at time.Time) string {
	return ReferenceDay(at) + randomCode(referenceCode)
}

// referenceCode is how many letters and digits follow the day.
const referenceCode = 8

// ReferenceDay is how every reference of a day begins.
func ReferenceDay(at time.Time) string { return "TXN-" + at.UTC().Format("20060102") + "-" }

// HasOurForm tells a text that one of our references could be: nobody else has made it.
func HasOurForm(text string) bool {
	const form = "TXN-20060102-"
	day, err := time.Parse(form, text[:min(len(form), len(text))])
	rest := strings.TrimPrefix(text, ReferenceDay(day))
	return err == nil && len(rest) == referenceCode && strings.Trim(rest, codeAlphabet) == ""
}

// RebillReference is the reference of the n-th debit of a subscription's period. It
// follows from these alone, so that a database that was restored from a backup
// gives a debit the name under which the gateway has it already. A rhythm that was
// moved since is not looked at: the backup may not know of it.
func RebillReference(s Subscription, n int) string {
	name := s.ID.String() + "/" + strconv.Itoa(s.Period) + "/" + strconv.Itoa(n)
	return reference(s.Frequency.PeriodStart(s.AnchorDate, s.Period).Start(), name)
}

// mostPassedOver bounds how many debits of one period are looked at beyond one that is known.
const mostPassedOver = 32

// LaterReferences are the references that further debits of a rebill's period have, beginning behind its own. The
// subscription is in that period, and the rebill's number is its own or less than that of its reference.
func LaterReferences(s Subscription, reference string, number int) (later []string) {
	for n := number; n < number+mostPassedOver && later == nil; n++ {
		if RebillReference(s, n) != reference {
			continue
		}
		for next := range mostPassedOver {
			later = append(later, RebillReference(s, n+1+next))
		}
	}
	return later
}

// RefundReference is the reference of a refund: what is given back, and the
// how-many-th it is of those that are alike. It follows from these alone, as that of a
// rebill does, so that a refund that a restored database has lost is the same refund when
// it is asked for again, whoever asks. The payment is told by its own reference, which a
// file brings with one that was lost as well. The amount is among them because a gateway
// would take another one for the first.
func RefundReference(sale Transaction, amount Minor, n int) string {
	return reference(sale.refundsDay(), "refund/"+sale.TenantID.String()+"/"+sale.MerchantTransactionID+"/"+amount.String()+"/"+strconv.Itoa(n))
}

// FirstRefunds are the names that refunds of one amount of a payment have first.
func FirstRefunds(sale Transaction, amount Minor) []string { return refundNames(sale, amount, 4) }

// AllRefunds are the names that refunds of one amount of a payment can have.
func AllRefunds(sale Transaction, amount Minor) []string { return refundNames(sale, amount, mostAlike) }

func refundNames(sale Transaction, amount Minor, count int) []string {
	names := make([]string, count)
	for n := range names {
		names[n] = RefundReference(sale, amount, n)
	}
	return names
}

// RefundsDay is how the references of all refunds of a payment begin.
func RefundsDay(sale Transaction) string { return ReferenceDay(sale.refundsDay()) }

// refundsDay is the day in a payment's own reference, or that of its processing where the
// name is not one of ours: a file that brings the payment again has both.
func (t Transaction) refundsDay() time.Time {
	const form = "TXN-20060102-"
	if day, err := time.Parse(form, t.MerchantTransactionID[:min(len(form), len(t.MerchantTransactionID))]); err == nil {
		return day
	}
	return t.ProcessedAt
}

// RefundKey is a refund's idempotency key, which follows from its reference.
func RefundKey(refund Transaction) string {
	return uuid.NewSHA1(refund.TenantID, []byte(refund.MerchantTransactionID)).String()
}

// reference has the form of NewMerchantTransactionID and follows from a name.
func reference(at time.Time, name string) string {
	sum := sha256.Sum256([]byte(name))
	return ReferenceDay(at) + code(referenceCode, func(raw []byte) {
		copy(raw, sum[:])
		sum = sha256.Sum256(sum[:])
	})
}

// RebillKey is a rebill's idempotency key, which follows from its reference.
func RebillKey(t Transaction) string {
	return uuid.NewSHA1(*t.SubscriptionID, []byte(t.MerchantTransactionID)).String()
}

// NewOrderNumber is the order reference that a merchant and a payer see.
func NewOrderNumber() string { return "ORD-" + randomCode(8) }

// NewMandateReference is the mandate's name towards the payer's bank.
func NewMandateReference() string { return "MND-" + randomCode(12) }

// IsReference tells whether a text can be a reference at all: one with other than visible
// ASCII characters is nobody's, and not every database could be asked for it.
func IsReference(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

const codeAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// randomCode is n upper-case letters and digits, each equally likely.
func randomCode(n int) string {
	return code(n, func(raw []byte) { rand.Read(raw) })
}

// code writes bytes as n letters and digits; those that would favour the first
// letters of the alphabet are passed over.
func code(n int, fill func(raw []byte)) string {
	const fair = 256 - 256%len(codeAlphabet)
	code := make([]byte, 0, n)
	var raw [16]byte
	for {
		fill(raw[:])
		for _, b := range raw {
			if int(b) >= fair {
				continue
			}
			if code = append(code, codeAlphabet[int(b)%len(codeAlphabet)]); len(code) == n {
				return string(code)
			}
		}
	}
}
