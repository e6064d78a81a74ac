package iso20022

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// ErrUnknownMessage is returned for a file that is none of the messages that banks answer with.
var ErrUnknownMessage = errors.New("iso20022: no status report, account report, statement or notification")

// Visitor is told what a file says, in the file's order; an error ends the reading. What is not set is not told.
type Visitor struct {
	// Status is called for every verdict of a status report, outer levels first.
	Status func(*Status) error
	// Statement is called for every statement of the file before its entries.
	Statement func(*Statement) error
	// Entry is called for every booking.
	Entry func(*Entry) error
}

// Read tells a visitor what a bank's file says. It holds one entry at a time, however long the file is.
func Read(input io.Reader, visit Visitor) error {
	d := newDecoder(input)
	defer d.end()
	return d.read(visit)
}

func (d *decoder) read(visit Visitor) error {
	found, root := false, ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && found {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: its outermost element is %q", ErrUnknownMessage, root)
		}
		if err != nil {
			return unexpectedEnd(err)
		}
		start, isStart := token.(xml.StartElement)
		if !isStart {
			continue
		}
		if root == "" {
			root = cut(start.Name.Local)
		}
		// Anything else is an envelope, and the message is inside.
		if kind := accountKinds[start.Name.Local]; kind != "" {
			found, err = true, readAccount(d, kind, visit)
		} else if start.Name.Local == "CstmrPmtStsRpt" {
			found, err = true, readStatusReport(d, visit)
		}
		if err != nil {
			return err
		}
	}
}

// eachChild calls child for the elements inside the one whose start was just met, until its end.
func eachChild(decoder *decoder, child func(xml.StartElement) error) error {
	for {
		token, err := decoder.Token()
		if err != nil {
			return unexpectedEnd(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := child(token); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}
