package gateway

import (
	"fmt"
	"io"
	"log/slog"
)

// A charge knows its payer, an account its secrets, and what goes over the wire
// knows both: none of them shows more than a name when it is printed.

func (c Charge) String() string { return "charge " + c.MerchantTransactionID }

func (c Charge) Format(w fmt.State, _ rune)   { io.WriteString(w, c.String()) }
func (c Charge) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
func (c Charge) LogValue() slog.Value         { return slog.StringValue(c.String()) }

func (a Account) String() string { return "gateway account " + a.ID.String() }

func (a Account) Format(w fmt.State, _ rune)   { io.WriteString(w, a.String()) }
func (a Account) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
func (a Account) LogValue() slog.Value         { return slog.StringValue(a.String()) }
