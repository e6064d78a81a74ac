package iso20022_test

import (
	"bytes"
	"testing"

	"sepad/internal/iso20022"
	"sepad/internal/iso20022/iso20022test"
)

func someTransfer() *iso20022.Transfer {
	return &iso20022.Transfer{
		EndToEndID: "TXN-20261116-REFUNDXX", AmountMinor: 1250, Remittance: "Refund of TXN-20261110-ABCDEFGH",
		Creditor: iso20022.Party{Name: "Παύλος Größe", Account: iban("DE02120300000000202051")},
	}
}

func TestTransfers(t *testing.T) {
	t.Parallel()
	abroad := someTransfer()
	abroad.Creditor = iso20022.Party{
		Name: "Anna Beispiel", Account: iban("CH9300762011623852957"), BIC: "POFICHBEXXX",
		Address: iso20022.Address{Street: "Marktgasse", Building: "28", PostCode: "9400", Town: "Rorschach", Country: "CH"},
	}
	for _, format := range iso20022.TransferFormats {
		t.Run("a "+string(format)+" is what its schema says", func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			transfers, err := iso20022.NewTransfers(&out, format, iso20022.Header{MessageID: "SEPAD-R-1", CreatedAt: writtenAt, Initiator: "Shop", Count: 2, SumMinor: 2500})
			must(t, err)
			must(t, transfers.Block(&iso20022.TransferBlock{
				ID: "SEPAD-R-1-1", ExecuteDate: day("2026-11-17"), BatchBooking: true, Debtor: creditor.Party, Count: 2, SumMinor: 2500,
			}))
			must(t, transfers.Add(someTransfer()))
			must(t, transfers.Add(abroad))
			must(t, transfers.Close())
			iso20022test.Validate(t, string(format), out.Bytes())
			expectText(t, out.Bytes(), "<NbOfTxs>2</NbOfTxs><CtrlSum>25.00</CtrlSum>")
			expectText(t, out.Bytes(), "<Nm>Pavlos Groesse</Nm>")
			expectText(t, out.Bytes(), `<Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt>`)
		})
	}

	t.Run("faults of a transfer keep it out of the file", func(t *testing.T) {
		t.Parallel()
		transfer := someTransfer()
		transfer.Creditor.Name, transfer.AmountMinor = "…", -1
		faults := transfer.Faults()
		if len(faults) != 1 || faults[0].Field != "amount" {
			t.Errorf("want the amount, got %+v", faults)
		}
	})
}
