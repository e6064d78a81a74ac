package iso20022

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Header says what a whole message holds. Count and sum come first in the file, so they must be known before the first
// payment is written; Close checks that they were right.
type Header struct {
	MessageID string
	CreatedAt time.Time
	// Initiator is who sends the file.
	Initiator string
	Count     int
	SumMinor  int64
}

// tally counts what was announced against what came.
type tally struct {
	count    int
	sumMinor int64
}

func (t *tally) add(amountMinor int64) {
	t.count++
	t.sumMinor += amountMinor
}

// message is what both writers share: the stream, the header and the open block.
type message struct {
	out    *bufio.Writer
	format Format
	// buffer takes numbers on their way out.
	buffer [32]byte

	header  Header
	total   tally
	block   tally // announced by the open block
	inBlock tally // come since
	isOpen  bool  // a block is open
}

const dayForm = "2006-01-02"

// bufferSize is what is held of a file of any length.
const bufferSize = 64 << 10

func newMessage(out io.Writer, format Format, root string, header Header) (*message, error) {
	m := &message{out: bufio.NewWriterSize(out, bufferSize), format: format, header: header}
	var f faults
	f.identifier("message id", header.MessageID)
	f.text("initiator", header.Initiator, maxName, true)
	f.date("created", header.CreatedAt)
	if header.Count < 1 {
		f.fatal("count", "A file without payments is refused.")
	}
	if err := f.fatalError("header"); err != nil {
		return nil, err
	}
	m.out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<Document xmlns="` + format.namespace() + `">`)
	m.open(root)
	m.open("GrpHdr")
	m.leaf("MsgId", header.MessageID)
	m.leaf("CreDtTm", header.CreatedAt.UTC().Format("2006-01-02T15:04:05Z"))
	m.totals(tally{header.Count, header.SumMinor})
	m.open("InitgPty")
	m.text("Nm", header.Initiator, maxName)
	m.close("InitgPty")
	m.close("GrpHdr")
	return m, nil
}

// openBlock begins a block that announces its count and sum.
func (m *message) openBlock(announced tally) error {
	if err := m.closeBlock(); err != nil {
		return err
	}
	if announced.count < 1 {
		return errors.New("iso20022: a block without payments is refused")
	}
	m.block, m.inBlock, m.isOpen = announced, tally{}, true
	m.out.WriteByte('\n')
	m.open("PmtInf")
	return nil
}

func (m *message) closeBlock() error {
	if !m.isOpen {
		return nil
	}
	m.isOpen = false
	if m.inBlock != m.block {
		return fmt.Errorf("iso20022: a block announces %d payments of %s and has %d of %s", m.block.count,
			decimal(m.block.sumMinor), m.inBlock.count, decimal(m.inBlock.sumMinor))
	}
	m.close("PmtInf")
	return nil
}

// count takes a payment into the sums.
func (m *message) count(amountMinor int64) error {
	if !m.isOpen {
		return errors.New("iso20022: a payment needs a block")
	}
	m.inBlock.add(amountMinor)
	m.total.add(amountMinor)
	return nil
}

// end closes the message, if it holds what its header said.
func (m *message) end(root string) error {
	if err := m.closeBlock(); err != nil {
		return err
	}
	if announced := (tally{m.header.Count, m.header.SumMinor}); m.total != announced {
		return fmt.Errorf("iso20022: the header announces %d payments of %s and the file has %d of %s", announced.count,
			decimal(announced.sumMinor), m.total.count, decimal(m.total.sumMinor))
	}
	m.close(root)
	m.out.WriteString("</Document>\n")
	return m.out.Flush()
}

// The elements. Errors of the stream are kept by bufio and come out of Flush. Nothing is escaped, because no character
// that is written needs it: identifiers were checked, all other text goes through Latin.

func (m *message) open(name string) {
	m.out.WriteByte('<')
	m.out.WriteString(name)
	m.out.WriteByte('>')
}

func (m *message) close(name string) {
	m.out.WriteString("</")
	m.out.WriteString(name)
	m.out.WriteByte('>')
}

func (m *message) leaf(name, value string) {
	m.open(name)
	m.out.WriteString(value)
	m.close(name)
}

// text writes free text in the characters of the scheme; nothing is written of what has none.
func (m *message) text(name, value string, length int) {
	if latin, _ := Latin(value); latin != "" {
		m.leaf(name, fit(latin, length))
	}
}

func (m *message) totals(t tally) {
	m.open("NbOfTxs")
	m.out.Write(strconv.AppendInt(m.buffer[:0], int64(t.count), 10))
	m.close("NbOfTxs")
	m.open("CtrlSum")
	m.out.Write(appendDecimal(m.buffer[:0], t.sumMinor))
	m.close("CtrlSum")
}

func (m *message) date(name string, date time.Time) {
	m.open(name)
	m.out.Write(date.AppendFormat(m.buffer[:0], dayForm))
	m.close(name)
}

func (m *message) amount(amountMinor int64) {
	m.out.WriteString(`<InstdAmt Ccy="EUR">`)
	m.out.Write(appendDecimal(m.buffer[:0], amountMinor))
	m.close("InstdAmt")
}

func (m *message) remittance(text string) {
	if latin, _ := Latin(text); latin != "" {
		m.open("RmtInf")
		m.leaf("Ustrd", fit(latin, maxRemittance))
		m.close("RmtInf")
	}
}

// appendDecimal writes hundredths with a point and two decimals.
func appendDecimal(dst []byte, minor int64) []byte {
	if minor < 0 {
		dst, minor = append(dst, '-'), -minor
	}
	dst = strconv.AppendInt(dst, minor/100, 10)
	return append(dst, '.', byte('0'+minor/10%10), byte('0'+minor%10))
}

func decimal(minor int64) string { return string(appendDecimal(nil, minor)) }
