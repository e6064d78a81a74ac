package config

import (
	"fmt"
	"io"
	"log/slog"
)

// Settings hold keys, tokens and addresses with passwords in them; printed, they
// show none of it. Settings has these methods by its Database.

func (d Database) String() string { return "settings" }

func (d Database) Format(w fmt.State, _ rune)   { io.WriteString(w, d.String()) }
func (d Database) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
func (d Database) LogValue() slog.Value         { return slog.StringValue(d.String()) }
