package store

import (
	"fmt"
	"io"
	"log/slog"
)

// An event's text may name a payer; printed, an event shows its id alone.

func (e EventRow) String() string { return "event " + e.ID.String() }

func (e EventRow) Format(w fmt.State, _ rune)   { io.WriteString(w, e.String()) }
func (e EventRow) MarshalText() ([]byte, error) { return []byte(e.String()), nil }
func (e EventRow) LogValue() slog.Value         { return slog.StringValue(e.String()) }

func (d Delivery) String() string { return "delivery of event " + d.EventID.String() }

func (d Delivery) Format(w fmt.State, _ rune)   { io.WriteString(w, d.String()) }
func (d Delivery) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
func (d Delivery) LogValue() slog.Value         { return slog.StringValue(d.String()) }
