package iso20022

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrNoOrder is returned for a file that is none of those that we write.
var ErrNoOrder = errors.New("iso20022: no message of collections or credit transfers")

// Ordered is one payment of a file of our own, read back from its bytes.
type Ordered struct {
	MessageID   string
	IsTransfer  bool
	BlockID     string
	DueDate     time.Time
	Sequence    string // "" for a transfer
	EndToEndID  string
	AmountMinor int64
}

// ReadOrder reads a file that we wrote, for whoever has nothing else of it. It holds one payment at a time.
func ReadOrder(input io.Reader, visit func(Ordered) error) error {
	decoder := newDecoder(input)
	found := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			if !found {
				return ErrNoOrder
			}
			return nil
		}
		if err != nil {
			return unexpectedEnd(err)
		}
		start, isStart := token.(xml.StartElement)
		if !isStart || start.Name.Local != debitsRoot && start.Name.Local != transfersRoot {
			continue
		}
		found = true
		if err := readOrder(decoder, Ordered{IsTransfer: start.Name.Local == transfersRoot}, visit); err != nil {
			return err
		}
	}
}

func readOrder(decoder *decoder, order Ordered, visit func(Ordered) error) error {
	return eachChild(decoder, func(start xml.StartElement) error {
		if start.Name.Local == "PmtInf" {
			return readOrderBlock(decoder, order, visit)
		}
		e, err := readElement(decoder, start)
		if err == nil && e.name == "GrpHdr" {
			order.MessageID = e.value("MsgId")
		}
		return err
	})
}

func readOrderBlock(decoder *decoder, order Ordered, visit func(Ordered) error) error {
	return eachChild(decoder, func(start xml.StartElement) error {
		e, err := readElement(decoder, start)
		if err != nil {
			return err
		}
		switch e.name {
		case "PmtInfId":
			order.BlockID = e.text
		case "PmtTpInf":
			order.Sequence = e.value("SeqTp")
		case "ReqdColltnDt", "ReqdExctnDt":
			order.DueDate = readDate(cmp.Or(e.text, e.value("Dt")))
		case "DrctDbtTxInf", "CdtTrfTxInf":
			amount := readMoney(e.find("InstdAmt"))
			if order.IsTransfer {
				amount = readMoney(e.find("Amt", "InstdAmt"))
			}
			order.EndToEndID, order.AmountMinor = e.value("PmtId", "EndToEndId"), amount.minor
			if order.EndToEndID == "" || !amount.ok || order.MessageID == "" {
				return fmt.Errorf("iso20022: a payment of message %q cannot be read", order.MessageID)
			}
			return visit(order)
		}
		return nil
	})
}
