package record

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// Kind says how a value is written.
type Kind uint8

const (
	// Null is no value: null in JSON, empty elsewhere.
	Null Kind = iota
	// Text is written as it is.
	Text
	// Minor is money: two decimals, a string in JSON too.
	Minor
	// Integer is a count: a number in JSON.
	Integer
	// Instant is a time in UTC with microseconds.
	Instant
	// Date is a day.
	Date
	// UUID is an id.
	UUID
)

// Value is one cell of a record. It holds no pointer but a text's, so that making
// one allocates nothing.
type Value struct {
	kind   Kind
	text   string
	number int64 // minor units, a count, or microseconds since 1970
	id     uuid.UUID
}

// Kind tells how the value is written.
func (v Value) Kind() Kind { return v.kind }

// Text is a text's content, and "" for any other kind.
func (v Value) Text() string { return v.text }

// ofText is a text; an empty one means that there is none.
func ofText[S ~string](text S) Value {
	if text == "" {
		return Value{}
	}
	return Value{kind: Text, text: string(text)}
}

func ofTextIfAny(text *string) Value {
	if text == nil {
		return Value{}
	}
	return Value{kind: Text, text: *text}
}

func ofMinor(amount payment.Minor) Value { return Value{kind: Minor, number: int64(amount)} }

func ofMinorIfAny(amount *payment.Minor) Value {
	if amount == nil {
		return Value{}
	}
	return ofMinor(*amount)
}

func ofInteger(number int) Value { return Value{kind: Integer, number: int64(number)} }

func ofInstant(at time.Time) Value {
	if at.IsZero() {
		return Value{}
	}
	return Value{kind: Instant, number: at.UnixMicro()}
}

func ofDate(date payment.Date) Value {
	if date.IsZero() {
		return Value{}
	}
	return Value{kind: Date, number: date.Start().UnixMicro()}
}

func ofID(id uuid.UUID) Value { return Value{kind: UUID, id: id} }

func ofIDIfAny(id *uuid.UUID) Value {
	if id == nil {
		return Value{}
	}
	return ofID(*id)
}

// Append writes the value bare, the way CSV and XML show it once they have
// escaped texts. Only texts can need escaping.
func (v Value) Append(dst []byte) []byte {
	switch v.kind {
	case Text:
		return append(dst, v.text...)
	case Minor:
		return payment.Minor(v.number).Append(dst)
	case Integer:
		return strconv.AppendInt(dst, v.number, 10)
	case Instant:
		return appendInstant(dst, v.number)
	case Date:
		return appendDate(dst, v.number)
	case UUID:
		return appendID(dst, v.id)
	default:
		return dst
	}
}

// AppendJSON writes the value as JSON.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case Null:
		return append(dst, "null"...)
	case Integer:
		return v.Append(dst)
	case Text:
		return AppendJSONText(dst, v.text)
	default:
		return append(v.Append(append(dst, '"')), '"')
	}
}

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 24 * 60 * 60 * microsPerSecond
)

// appendInstant writes 2006-01-02T15:04:05.000000Z. A page has thousands of
// instants, and the ways of package time take several times as long.
func appendInstant(dst []byte, micros int64) []byte {
	const secondsPerHour = 60 * 60
	rest := ((micros % microsPerDay) + microsPerDay) % microsPerDay
	seconds := rest / microsPerSecond
	dst = append(appendDate(dst, micros), 'T')
	dst = append(append2(dst, seconds/secondsPerHour), ':')
	dst = append(append2(dst, seconds/60%60), ':')
	dst = append(append2(dst, seconds%60), '.')
	fraction := rest % microsPerSecond
	dst = append2(dst, fraction/10_000)
	dst = append2(dst, fraction/100%100)
	return append(append2(dst, fraction%100), 'Z')
}

// appendDate writes the day of an instant.
func appendDate(dst []byte, micros int64) []byte {
	year, month, day := civil(micros)
	dst = append2(dst, year/100)
	dst = append(append2(dst, year%100), '-')
	dst = append(append2(dst, month), '-')
	return append2(dst, day)
}

// civil is the day of an instant in the Gregorian calendar. It counts in eras of
// 400 years that begin with March, so that the leap day is a year's last.
func civil(micros int64) (year, month, day int64) {
	const daysPerEra, yearsPerEra, sinceEraBegan = 146_097, 400, 719_468 // days from 0000-03-01 to 1970-01-01
	days := micros / microsPerDay
	if micros%microsPerDay < 0 {
		days--
	}
	days += sinceEraBegan
	era := days / daysPerEra
	inEra := days % daysPerEra
	yearInEra := (inEra - inEra/1460 + inEra/36_524 - inEra/146_096) / 365
	inYear := inEra - (365*yearInEra + yearInEra/4 - yearInEra/100)
	fromMarch := (5*inYear + 2) / 153
	day = inYear - (153*fromMarch+2)/5 + 1
	month = fromMarch + 3
	year = yearInEra + era*yearsPerEra
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// append2 writes two digits; a number beyond them is written as it is.
func append2(dst []byte, number int64) []byte {
	if number < 0 || number > 99 {
		return strconv.AppendInt(dst, number, 10)
	}
	return append(dst, byte('0'+number/10), byte('0'+number%10))
}

// appendID writes an id in its usual form. A page has thousands of them, so that
// eight digits are made at once.
func appendID(dst []byte, id uuid.UUID) []byte {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	var digits [32]byte
	binary.BigEndian.PutUint64(digits[0:], eightDigits(high>>32))
	binary.BigEndian.PutUint64(digits[8:], eightDigits(high&math.MaxUint32))
	binary.BigEndian.PutUint64(digits[16:], eightDigits(low>>32))
	binary.BigEndian.PutUint64(digits[24:], eightDigits(low&math.MaxUint32))
	text := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	copy(text[0:8], digits[0:8])
	copy(text[9:13], digits[8:12])
	copy(text[14:18], digits[12:16])
	copy(text[19:23], digits[16:20])
	copy(text[24:36], digits[20:32])
	return append(dst, text[:]...)
}

// eightDigits writes 32 bits as hexadecimal digits, one in each byte: the bits are
// spread by fours, and those above nine are moved on to the letters.
func eightDigits(bits uint64) uint64 {
	const each, toLetters = 0x0101010101010101, 'a' - '0' - 10
	bits = (bits<<16 | bits) & 0x0000FFFF0000FFFF
	bits = (bits<<8 | bits) & 0x00FF00FF00FF00FF
	bits = (bits<<4 | bits) & 0x0F0F0F0F0F0F0F0F
	aboveNine := (bits + 6*each) >> 4 & each
	return bits + '0'*each + aboveNine*toLetters
}
