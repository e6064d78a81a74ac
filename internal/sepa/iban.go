package sepa

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
)

// IBAN is a valid international bank account number. The zero value means "none". Two IBANs are equal (==) exactly when
// their characters are. However it is printed, logged or encoded, it shows its last four characters only; Electronic is
// the one way to the whole.
type IBAN struct {
	// sealed holds the characters and, in the last byte, their number. fmt reads unexported fields of foreign structs
	// byte by byte without asking Format, so the bytes are kept XORed with a pad of this process: a struct that holds an
	// IBAN in a field of its own cannot give it away by being printed.
	sealed [ibanWords]uint64
}

const (
	ibanWords   = 5
	lengthIndex = ibanWords*8 - 1
)

// plainIBAN is the unsealed form, used only inside this package and only for as long as a call lasts.
type plainIBAN [ibanWords * 8]byte

var pad = newPad()

func newPad() (words [ibanWords]uint64) {
	var random [maxIBANLength]byte
	rand.Read(random[:]) // never fails since Go 1.24: the process ends instead
	var bytes plainIBAN
	copy(bytes[:], random[:])
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(bytes[i*8:])
	}
	return words
}

func (plain *plainIBAN) seal() (iban IBAN) {
	for i := range iban.sealed {
		iban.sealed[i] = binary.LittleEndian.Uint64(plain[i*8:]) ^ pad[i]
	}
	return iban
}

func (iban IBAN) unseal() (plain plainIBAN) {
	if iban == (IBAN{}) {
		return plain
	}
	for i, word := range iban.sealed {
		binary.LittleEndian.PutUint64(plain[i*8:], word^pad[i])
	}
	return plain
}

func (plain *plainIBAN) characters() []byte { return plain[:plain[lengthIndex]] }

// IsZero tells whether there is no IBAN.
func (iban IBAN) IsZero() bool { return iban == IBAN{} }

// Electronic gives the whole IBAN without spaces. It belongs into a gateway's request or under encryption, nowhere else.
func (iban IBAN) Electronic() string {
	plain := iban.unseal()
	return string(plain.characters())
}

// Country gives the two letters at the start, "DE".
func (iban IBAN) Country() string {
	plain := iban.unseal()
	if layout := layoutFor(plain[0], plain[1]); layout != nil {
		return layout.country.code
	}
	return ""
}

// Last4 gives the last four characters, the only ones that are ever shown.
func (iban IBAN) Last4() string {
	plain := iban.unseal()
	characters := plain.characters()
	if len(characters) == 0 {
		return ""
	}
	return string(characters[len(characters)-4:])
}

// Masked gives the IBAN with everything but its last four characters replaced by '*', in its own length.
func (iban IBAN) Masked() string {
	plain := iban.unseal()
	characters := plain.characters()
	for i := 0; i < len(characters)-4; i++ {
		characters[i] = '*'
	}
	return string(characters)
}

// BankCode gives the part of the IBAN that names the bank in its country (eight digits in Germany), "" for no IBAN.
func (iban IBAN) BankCode() string {
	plain := iban.unseal()
	return string(plain.bankCode())
}

func (plain *plainIBAN) bankCode() []byte {
	layout := layoutFor(plain[0], plain[1])
	if layout == nil {
		return nil
	}
	return plain[4+layout.country.bankFrom : 4+layout.country.bankTo]
}

// String gives the masked form.
func (iban IBAN) String() string { return iban.Masked() }

// GoString gives the masked form.
func (iban IBAN) GoString() string { return "sepa.IBAN(" + iban.Masked() + ")" }

// Format prints the masked form for every verb, so that no verb reaches the bytes.
func (iban IBAN) Format(state fmt.State, verb rune) {
	text := iban.Masked()
	switch {
	case verb == 'q':
		text = `"` + text + `"`
	case verb == 'v' && state.Flag('#'):
		text = iban.GoString()
	}
	fmt.Fprint(state, text)
}

// LogValue logs the masked form.
func (iban IBAN) LogValue() slog.Value { return slog.StringValue(iban.Masked()) }

// MarshalText gives the masked form.
func (iban IBAN) MarshalText() ([]byte, error) { return []byte(iban.Masked()), nil }

// MarshalJSON gives the masked form, or null for no IBAN.
func (iban IBAN) MarshalJSON() ([]byte, error) {
	if iban.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(iban.Masked())
}
