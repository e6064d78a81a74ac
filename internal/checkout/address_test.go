package checkout_test

import (
	"testing"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

func TestAnAddressIsWrittenWhereNoneIsKnownInFull(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name, address, city string
			corrects            bool
			want                string
		}{
			{"one that is known in full stands", "Weg 2", "Genf", false, "Weg 2|Genf"},
			{"one that the payer gave before is replaced", "Weg 2", "Genf", true, "Gasse 1|Bern"},
			{"one that is known in part is replaced as a whole", "Weg 2", "", false, "Gasse 1|Bern"},
			{"one that is not known is written", "", "", false, "Gasse 1|Bern"},
		} {
			t.Run(c.name, func(t *testing.T) {
				found := till.Session(t, func(d *storetest.Draft) { d.Lead.Address, d.Lead.City = c.address, c.city })
				in := till.Payment(found)
				in.Address, in.City, in.CorrectsAddress = "Gasse 1", "Bern", c.corrects
				till.Gateway.Answer(approved)
				if _, err := till.Pay(t.Context(), in); err != nil {
					t.Fatal(err)
				}
				sent := till.Gateway.Submitted()
				lead := sent[len(sent)-1].Lead
				if told := lead.Address + "|" + lead.City; told != c.want {
					t.Errorf("the gateway is told %q, want %q", told, c.want)
				}
				if kept := storetest.Scalar[string](t, till.Env, `SELECT address || '|' || city FROM leads WHERE id = $1`, lead.ID); kept != c.want {
					t.Errorf("the lead lives at %q, want %q", kept, c.want)
				}
			})
		}
	})
}

// TestAPayerWhoGivesNoAddressTakesNoneAway: what a merchant has told in part stays until a payer gives all of it.
func TestAPayerWhoGivesNoAddressTakesNoneAway(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, says := range []struct{ address, city string }{{"", ""}, {"Gasse 1", ""}, {"", "Bern"}} {
			found := till.Session(t, func(d *storetest.Draft) { d.Lead.Address, d.Lead.City = "Weg 2", "" })
			in := till.Payment(found)
			in.Address, in.City = says.address, says.city
			till.Gateway.Answer(approved)
			if _, err := till.Pay(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if lead := till.Env.Find(t, found.Session.Token).Lead; lead.Address != "Weg 2" || lead.City != "" {
				t.Errorf("after %+v the lead lives at %q in %q", says, lead.Address, lead.City)
			}
		}
	})
}

// TestAnAccountThatNeedsAnAddressIsNotDebitedWithout: the bank would refuse it, and the attempt would be used up.
func TestAnAccountThatNeedsAnAddressIsNotDebitedWithout(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	in := till.Payment(till.Session(t, func(d *storetest.Draft) { d.Lead.Address, d.Lead.City = "Weg 2", "" }))
	in.Instrument = till.Instrument("CH93 0076 2011 6238 5295 7", "Anna Müller", payment.Fields{})
	till.Gateway.Answer(approved)
	if _, err := till.Pay(t.Context(), in); payment.KindOf(err) != payment.Invalid || len(till.Gateway.Submitted()) != 0 {
		t.Errorf("%d payments were sent: %v", len(till.Gateway.Submitted()), err)
	}
	in.Address, in.City = "Gasse 1", "Bern"
	if _, err := till.Pay(t.Context(), in); err != nil || till.Gateway.Submitted()[0].Instrument.IBAN.Electronic() != "CH9300762011623852957" {
		t.Errorf("with one: %v", err)
	}
}
