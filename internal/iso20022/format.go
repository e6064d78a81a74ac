package iso20022

import "strings"

// Format is a message that we write, in the version that the bank takes.
type Format string

// The formats. The older two are written in the form that German banks restrict them to, which every bank takes.
const (
	Debits08    Format = "pain.008.001.08"
	Debits02    Format = "pain.008.001.02"
	Transfers09 Format = "pain.001.001.09"
	Transfers03 Format = "pain.001.001.03"
)

// DebitFormats and TransferFormats are what a setting may name, the usual one first.
var (
	DebitFormats    = []Format{Debits08, Debits02}
	TransferFormats = []Format{Transfers09, Transfers03}
)

// OfTransfers is the version of credit transfers that goes with one of collections.
func (f Format) OfTransfers() Format {
	if f.isOld() {
		return Transfers03
	}
	return Transfers09
}

// namespace of the message's elements.
func (f Format) namespace() string { return "urn:iso:std:iso:20022:tech:xsd:" + string(f) }

// isOld tells the versions of 2009: banks are named by BIC instead of BICFI, and addresses are lines.
func (f Format) isOld() bool { return f == Debits02 || f == Transfers03 }

// isIdentifier tells whether text may stand in an element that identifies something. The scheme allows 35 of its
// characters, no slash at either end and no two in a row; a blank is allowed by the schema and lost by some banks, so
// it is not written.
func isIdentifier(text string) bool {
	if text == "" || len(text) > maxIdentifier || strings.Contains(text, "//") || text[0] == '/' || text[len(text)-1] == '/' {
		return false
	}
	for i := range len(text) {
		if !isBasic(rune(text[i])) || text[i] == ' ' {
			return false
		}
	}
	return true
}

// Lengths that the scheme allows. The newer schemas take names of 140 characters, the scheme still 70.
const (
	maxIdentifier = 35
	maxName       = 70
	maxRemittance = 140
	maxStreet     = 70
	maxBuilding   = 16
	maxPostCode   = 16
	maxTown       = 35
	maxLine       = 70

	// MaxAmountMinor is the largest amount of one payment: 999,999,999.99.
	MaxAmountMinor = 99_999_999_999
)

// What one payment, the head of one block and the head of the message take at most, in bytes of any format.
const (
	mostPayment = 1800
	mostBlock   = 1400
	mostHeader  = 600
)

// MostBytes bounds how long a message of so many blocks and payments can be.
func MostBytes(blocks, payments int) int { return mostHeader + blocks*mostBlock + payments*mostPayment }
