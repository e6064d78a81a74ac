package banking_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/iso20022"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// amendments gives those in the newest file, as text.
func (b *bundle) amendments(t *testing.T) (amended []string) {
	t.Helper()
	files := b.files(t)
	newest := files[0]
	for _, file := range files {
		if file.CreatedAt.After(newest.CreatedAt) {
			newest = file
		}
	}
	var content bytes.Buffer
	must(t, b.App.Banking.Content(t.Context(), newest, &content))
	b.out(t) // all of them are valid
	if _, err := playedbank.Take(content.Bytes(), playedbank.Limits{}); err != nil {
		t.Error(err)
	}
	decoder := xml.NewDecoder(&content)
	for {
		token, err := decoder.Token()
		if err != nil {
			return amended
		}
		if start, isStart := token.(xml.StartElement); isStart && start.Name.Local == "AmdmntInfDtls" {
			var inner struct {
				Text string `xml:",innerxml"`
			}
			must(t, decoder.DecodeElement(&inner, &start))
			amended = append(amended, inner.Text)
		}
	}
}

func TestWhatChangesUnderAMandateIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, format := range iso20022.DebitFormats {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				b := setup(t, s, "format: "+string(format), "settle_days: 1")
				b.pay(t, apptest.Approved, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
				month := func() []string {
					before := len(b.files(t))
					for len(b.files(t)) == before {
						b.Advance(t, 10*24*time.Hour)
					}
					return b.amendments(t)
				}
				b.cutOff(t)
				if told := append(b.amendments(t), month()...); len(told) != 0 {
					t.Errorf("nothing has changed, and the bank is told %q", told)
				}

				other, err := b.Env.Vault.Seal([]byte("AT611904300234573201"), store.BindIBAN(b.account.Setup.Tenant.ID, storetest.Scalar[string](t, b.Env, `SELECT mandate_reference FROM subscriptions`)))
				must(t, err)
				b.Env.Exec(t, `UPDATE subscriptions SET iban_sealed = $1`, other)
				if told := month(); len(told) != 1 || !strings.Contains(told[0], "<OrgnlDbtrAcct><Id><Othr><Id>SMNDA</Id>") {
					t.Errorf("a new account is told as %q", told)
				}
				if told := month(); len(told) != 0 {
					t.Errorf("it is told again: %q", told)
				}

				b.Env.Exec(t, `UPDATE bank_files SET creditor_name = 'Talladen GmbH', creditor_identifier = 'DE02ZZZ00000000001'`)
				told := month()
				if len(told) != 1 || !strings.Contains(told[0], "<Nm>Talladen GmbH</Nm>") || !strings.Contains(told[0], "DE02ZZZ00000000001") {
					t.Errorf("another creditor is told as %q", told)
				}
				if told := month(); len(told) != 0 {
					t.Errorf("it is told again: %q", told)
				}
			})
		})
	}
}
