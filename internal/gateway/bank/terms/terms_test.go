package terms_test

import (
	"maps"
	"testing"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/gateway/bank"
	"sepad/internal/gateway/bank/terms"
	"sepad/internal/iso20022"
	"sepad/internal/merchant"
)

// settings are the least that an account needs, and some more.
func settings(more merchant.Settings) merchant.Settings {
	all := merchant.Settings{"account_iban": "DE89370400440532013000", "folder": "/var/lib/bank"}
	maps.Copy(all, more)
	return all
}

func read(t *testing.T, more merchant.Settings) *terms.Terms {
	t.Helper()
	client, err := gateway.NewClient(bank.Kind(), gateway.Account{Settings: settings(more)}, gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return client.Adapter().(*bank.Adapter).Terms
}

func TestWrongSettingsAreNamed(t *testing.T) {
	t.Parallel()
	for setting, value := range map[string]any{
		"account_iban": "DE89370400440532013001", "account_bic": "COBA", "creditor_identifier": "DE99ZZZ09999999999", "cut_off": "25:00",
		"time_zone": "Europe/Nowhere", "folder": "bank", "reference_pattern": "(", "format": "pain.008.001.99", "profile": "none", "lead_days": 0,
	} {
		t.Run(setting+" that is wrong is refused by its name", func(t *testing.T) {
			t.Parallel()
			mistakes := bank.Kind().Check(gateway.Account{Settings: settings(merchant.Settings{setting: value})})
			if len(mistakes) != 1 || mistakes[0].Setting != setting {
				t.Errorf("gave %v", mistakes)
			}
		})
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	t.Run("a profile sets what its bank forces", func(t *testing.T) {
		t.Parallel()
		got := read(t, merchant.Settings{"profile": "commerzbank-portal"})
		if got.MaxEntries != 999 || got.MaxBytes != 2_500_000 || !got.OneDueDate || !got.SchemeName {
			t.Errorf("gave %+v", got.Rules)
		}
	})
	t.Run("each point can be set apart", func(t *testing.T) {
		t.Parallel()
		got := read(t, merchant.Settings{"profile": "commerzbank-portal", "max_entries": 10, "one_due_date_per_file": false, "format": "pain.008.001.02"})
		if got.MaxEntries != 10 || got.OneDueDate || got.Format != iso20022.Debits02 || got.MaxBytes != 2_500_000 {
			t.Errorf("gave %+v", got.Rules)
		}
	})
	t.Run("what is not set does not override the profile", func(t *testing.T) {
		t.Parallel()
		got := read(t, merchant.Settings{"profile": "german-2009"})
		if got.SchemeName || got.Creditor.NameWithIdentifier || got.Format != iso20022.Debits02 {
			t.Errorf("gave %+v", got)
		}
	})
}

func TestCreditorIsTheTenantsUnlessGiven(t *testing.T) {
	t.Parallel()
	tenant := merchant.Tenant{Creditor: merchant.Creditor{Name: "Bergladen GmbH", Identifier: "DE98 ZZZ0 9999 9999 99"}}
	got, err := read(t, merchant.Settings{"creditor_name": "Berg"}).For(tenant)
	if err != nil || got.Creditor.Name != "Berg" || got.Creditor.Identifier != "DE98ZZZ09999999999" {
		t.Errorf("gave %+v, %v", got.Creditor, err)
	}
	if _, err := read(t, nil).For(merchant.Tenant{}); err == nil {
		t.Error("nobody collects, and nobody says so")
	}
}

func TestCalendar(t *testing.T) {
	t.Parallel()
	account := read(t, nil) // 11:00 in Berlin, one day ahead, three days of silence
	for name, test := range map[string]struct{ at, next, last, due string }{
		"before the cut-off of a winter's day":      {"2026-03-02T09:30:00Z", "2026-03-02T10:00:00Z", "2026-02-27T10:00:00Z", "2026-03-03"},
		"at the cut-off itself":                     {"2026-03-02T10:00:00Z", "2026-03-03T10:00:00Z", "2026-03-02T10:00:00Z", "2026-03-03"},
		"within the grace behind it":                {"2026-03-02T10:29:00Z", "2026-03-03T10:00:00Z", "2026-03-02T10:00:00Z", "2026-03-03"},
		"too late for the day":                      {"2026-03-02T10:31:00Z", "2026-03-03T10:00:00Z", "2026-03-02T10:00:00Z", "2026-03-04"},
		"over a weekend on which the clocks change": {"2026-03-27T12:00:00Z", "2026-03-30T09:00:00Z", "2026-03-27T10:00:00Z", "2026-03-31"},
		"over Good Friday and Easter Monday":        {"2026-04-02T12:00:00Z", "2026-04-07T09:00:00Z", "2026-04-02T09:00:00Z", "2026-04-08"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, err := time.Parse(time.RFC3339, test.at)
			if err != nil {
				t.Fatal(err)
			}
			next, last, due := account.NextCutOff(at).Format(time.RFC3339), account.LastCutOff(at).Format(time.RFC3339), account.DueDate(at).Format(time.DateOnly)
			if next != test.next || last != test.last || due != test.due {
				t.Errorf("next %s, last %s, due %s; want %+v", next, last, due, test)
			}
		})
	}
	t.Run("what is announced has its notice and its file", func(t *testing.T) {
		t.Parallel()
		for name, test := range map[string]struct {
			notice, lead          int
			owed, told, file, due string
		}{
			"on a business day":                    {2, 1, "2026-03-04", "2026-03-01T23:00:00Z", "2026-03-03T10:00:00Z", "2026-03-04"},
			"on a Saturday":                        {2, 1, "2026-03-07", "2026-03-05T10:00:00Z", "2026-03-06T10:00:00Z", "2026-03-09"},
			"over Easter, when the clocks changed": {3, 2, "2026-04-05", "2026-03-31T09:00:00Z", "2026-04-01T09:00:00Z", "2026-04-07"},
			"with a long notice":                   {14, 1, "2026-03-31", "2026-03-16T23:00:00Z", "2026-03-30T09:00:00Z", "2026-03-31"},
			"with a long lead":                     {1, 5, "2026-03-31", "2026-03-23T10:00:00Z", "2026-03-24T10:00:00Z", "2026-03-31"},
		} {
			account := read(t, merchant.Settings{"notice_days": test.notice, "lead_days": test.lead})
			owed, err := time.Parse(time.DateOnly, test.owed)
			if err != nil {
				t.Fatal(err)
			}
			told := account.AnnouncesAt(owed)
			due := account.DueAfter(told, owed)
			if told.Format(time.RFC3339) != test.told || due.Format(time.DateOnly) != test.due || account.CutOffFor(due).Format(time.RFC3339) != test.file {
				t.Errorf("%s: told at %s, in the file of %s, due on %s; want %+v", name, told, account.CutOffFor(due), due, test)
			}
			if until := account.AnnouncesUntil(told); until.Before(owed) {
				t.Errorf("%s: at %s nobody is told of %s", name, told, owed)
			}
			if until := account.AnnouncesUntil(told.Add(-time.Microsecond)); !until.Before(owed) {
				t.Errorf("%s: %s is told of a moment too early", name, until)
			}
		}
	})
	t.Run("silence ends with the third business day after the due date", func(t *testing.T) {
		t.Parallel()
		got := account.SilenceEnds(time.Date(2026, time.April, 1, 0, 0, 0, 0, time.UTC)).Format(time.RFC3339)
		if got != "2026-04-08T22:00:00Z" {
			t.Errorf("it ends at %s", got)
		}
	})
}
