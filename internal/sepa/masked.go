package sepa

import (
	"fmt"
	"io"
	"log/slog"
)

// Masked hides the struct that embeds it: with any verb of fmt, as JSON or XML
// and in a log, a mask is all that shows. It is for what holds personal data or
// secrets and nothing by which it could be called; what has an id says that
// instead, by methods of its own.
//
// It reaches as far as Go lets it: fmt prints the unexported fields of a struct
// without asking them, so that such data stay out of unexported fields of
// anything that is ever printed. An IBAN is safe there too.
type Masked struct{}

const mask = "***"

func (Masked) String() string { return mask }

// Format masks for every verb.
func (Masked) Format(w fmt.State, _ rune) { io.WriteString(w, mask) }

// MarshalText masks in JSON, XML and YAML.
func (Masked) MarshalText() ([]byte, error) { return []byte(mask), nil }

// LogValue masks in logs.
func (Masked) LogValue() slog.Value { return slog.StringValue(mask) }
