package merchant

import (
	"fmt"
	"io"
	"log/slog"
)

const mask = "***"

// Secret is a text that must not be seen. However it is printed, logged or
// encoded it shows a mask; Reveal is the one way to the text.
type Secret string

// Reveal gives the text. It belongs under encryption or into a signature.
func (s Secret) Reveal() string { return string(s) }

// IsZero tells that there is no secret.
func (s Secret) IsZero() bool { return s == "" }

func (s Secret) String() string { return mask }

// Format masks for every verb, %#v and %x included.
func (s Secret) Format(w fmt.State, _ rune) { io.WriteString(w, mask) }

// MarshalText keeps the text out of JSON, YAML and XML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

// LogValue keeps the text out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(mask) }

// Settings are an adapter's own settings of a gateway account. Only the adapter
// knows which of them are secret, so all are treated as such.
type Settings map[string]any

func (s Settings) String() string { return mask }

// Format masks for every verb.
func (s Settings) Format(w fmt.State, _ rune) { io.WriteString(w, mask) }

// MarshalText keeps the settings out of JSON; what is stored of them is encoded
// as a map.
func (s Settings) MarshalText() ([]byte, error) { return []byte(mask), nil }

// LogValue keeps the settings out of logs.
func (s Settings) LogValue() slog.Value { return slog.StringValue(mask) }
