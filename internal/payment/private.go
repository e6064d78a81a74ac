package payment

import (
	"fmt"
	"io"
	"log/slog"
)

// What belongs to a person shows no more than an id, however it is printed: with
// any verb of fmt, as JSON or XML, in a log of either form. Whoever sends such
// data to somebody names the fields one by one.

func (l Lead) String() string { return "lead " + l.ID.String() }

func (l Lead) Format(w fmt.State, _ rune)   { io.WriteString(w, l.String()) }
func (l Lead) MarshalText() ([]byte, error) { return []byte(l.String()), nil }
func (l Lead) LogValue() slog.Value         { return slog.StringValue(l.String()) }

func (i Instrument) String() string { return "account " + i.IBAN.Masked() }

func (i Instrument) Format(w fmt.State, _ rune)   { io.WriteString(w, i.String()) }
func (i Instrument) MarshalText() ([]byte, error) { return []byte(i.String()), nil }
func (i Instrument) LogValue() slog.Value         { return slog.StringValue(i.String()) }

func (s Session) String() string { return fmt.Sprintf("session %s (%s)", s.ID, s.Status) }

func (s Session) Format(w fmt.State, _ rune)   { io.WriteString(w, s.String()) }
func (s Session) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
func (s Session) LogValue() slog.Value         { return slog.StringValue(s.String()) }

func (t Transaction) String() string {
	return fmt.Sprintf("transaction %s (%s %s %s %s)", t.ID, t.Type, t.Status, t.AmountMinor, t.Currency)
}

func (t Transaction) Format(w fmt.State, _ rune)   { io.WriteString(w, t.String()) }
func (t Transaction) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
func (t Transaction) LogValue() slog.Value         { return slog.StringValue(t.String()) }

func (r Chargeback) String() string { return fmt.Sprintf("chargeback %s (%s)", r.ID, r.ReasonCode) }

func (r Chargeback) Format(w fmt.State, _ rune)   { io.WriteString(w, r.String()) }
func (r Chargeback) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
func (r Chargeback) LogValue() slog.Value         { return slog.StringValue(r.String()) }

func (a Acceptance) String() string { return "acceptance of " + a.TransactionID.String() }

func (a Acceptance) Format(w fmt.State, _ rune)   { io.WriteString(w, a.String()) }
func (a Acceptance) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
func (a Acceptance) LogValue() slog.Value         { return slog.StringValue(a.String()) }
