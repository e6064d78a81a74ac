package gateway_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// bankLike is a table with everything that a setting can be.
var bankLike = []gateway.Setting{
	{Name: "api_key", Type: gateway.SettingText, Secret: true, Required: true},
	{Name: "format", Type: gateway.SettingText, Choices: []string{"new", "old"}, Default: "new"},
	{Name: "lead_days", Type: gateway.SettingNumber, Low: 1, High: 14, Default: 2},
	{Name: "entries", Type: gateway.SettingNumber},
	{Name: "booking", Type: gateway.SettingFlag, Default: true},
	{Name: "folder", Type: gateway.SettingText, Check: func(text string) error {
		if !strings.HasPrefix(text, "/") {
			return errors.New("Give a path from the root.")
		}
		return nil
	}},
	{Name: "sftp", Type: gateway.SettingObject, Fields: []gateway.Setting{
		{Name: "host", Type: gateway.SettingText, Required: true},
		{Name: "port", Type: gateway.SettingNumber, Default: 22},
		{Name: "password", Type: gateway.SettingText, Secret: true},
	}},
}

type settings = map[string]any

// kindWith hands out the values that an account's adapter is given.
func kindWith(values *gateway.Values, err error) gateway.Kind {
	return gateway.Kind{Name: "bank-like", Settings: bankLike, New: func(_ gateway.Account, given gateway.Values) (gateway.Adapter, error) {
		*values = given
		return &scripted{}, err
	}}
}

func accountWith(given settings) gateway.Account {
	return gateway.Account{ID: uuid.New(), Settings: merchant.Settings(given)}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	t.Run("what is wrong is said of each setting by its name, all at once", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct {
			given settings
			want  string
		}{
			{settings{"api_key": "k"}, ""},
			{settings{}, "api_key: This setting is required."},
			{settings{"api_key": " "}, "api_key: This setting must not be blank."},
			{settings{"api_key": nil, "booking": nil}, "api_key: This setting is required."},
			{settings{"api_key": int64(7)}, "api_key: Give a text; put it in quotes if it looks like a number."},
			{settings{"api_key": "k", "format": "nev"}, "format: This must be one of new, old. Did you mean new?"},
			{settings{"api_key": "k", "lead_days": int64(15)}, "lead_days: Give a whole number from 1 to 14."},
			{settings{"api_key": "k", "lead_days": 1.5}, "lead_days: Give a whole number from 1 to 14."},
			{settings{"api_key": "k", "entries": "many"}, "entries: Give a whole number."},
			{settings{"api_key": "k", "booking": "yes"}, "booking: Give true or false."},
			{settings{"api_key": "k", "folder": "here"}, "folder: Give a path from the root."},
			{settings{"api_key": "k", "sftp": "here"}, "sftp: Give an object with its fields."},
			{settings{"api_key": "k", "sftp": settings{"hots": "h"}}, "sftp.hots: This setting is not known. Did you mean host? sftp.host: This setting is required."},
			{settings{"apikey": "k", "lead_days": true}, "apikey: This setting is not known. Did you mean api_key? " +
				"api_key: This setting is required. lead_days: Give a whole number from 1 to 14."},
		} {
			var values gateway.Values
			var told []string
			for _, mistake := range kindWith(&values, nil).Check(accountWith(test.given)) {
				told = append(told, mistake.Setting+": "+mistake.Sentence)
			}
			if got := strings.Join(told, " "); got != test.want {
				t.Errorf("%v gave %q, want %q", test.given, got, test.want)
			}
		}
	})
	t.Run("an adapter names the setting that no table can judge", func(t *testing.T) {
		t.Parallel()
		var values gateway.Values
		refusal := fmt.Errorf("bank: %w", &gateway.SettingError{Setting: "folder", Sentence: "Give folder or sftp, not both."})
		mistakes := kindWith(&values, refusal).Check(accountWith(settings{"api_key": "k"}))
		if len(mistakes) != 1 || mistakes[0].Setting != "folder" {
			t.Errorf("gave %v", mistakes)
		}
		mistakes = kindWith(&values, errors.New("no luck")).Check(accountWith(settings{"api_key": "k"}))
		if len(mistakes) != 1 || mistakes[0].Setting != "" || !strings.HasSuffix(mistakes[0].Sentence, "no luck") {
			t.Errorf("gave %v", mistakes)
		}
	})
}

func TestSettingValues(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, given settings) (values gateway.Values) {
		t.Helper()
		if _, err := gateway.NewClient(kindWith(&values, nil), accountWith(given), gateway.Options{}); err != nil {
			t.Fatal(err)
		}
		return values
	}
	t.Run("an adapter gets what was given, and defaults for the rest", func(t *testing.T) {
		t.Parallel()
		v := open(t, settings{"api_key": "k", "entries": 5.0, "sftp": settings{"host": "bank.example"}})
		sftp, isGiven := v.Object("sftp")
		if !isGiven || sftp.Text("host") != "bank.example" || sftp.Number("port") != 22 {
			t.Error("the object is not what was given")
		}
		if v.Text("api_key") != "k" || v.Text("format") != "new" || v.Number("lead_days") != 2 || v.Number("entries") != 5 || !v.Flag("booking") || v.Text("folder") != "" {
			t.Error("the values are not what was given")
		}
		if _, isGiven := open(t, settings{"api_key": "k"}).Object("sftp"); isGiven {
			t.Error("an object that was not given is there")
		}
	})
	t.Run("a stored setting that this version does not know stops no payment, a wrong one does", func(t *testing.T) {
		t.Parallel()
		open(t, settings{"api_key": "k", "of_another_version": true})
		var values gateway.Values
		_, err := gateway.NewClient(kindWith(&values, nil), accountWith(settings{"api_key": "k", "booking": 7}), gateway.Options{})
		if err == nil || !strings.Contains(err.Error(), "setting booking") {
			t.Errorf("gave %v", err)
		}
	})
	t.Run("a setting that is not in the table is the adapter's mistake", func(t *testing.T) {
		t.Parallel()
		v := open(t, settings{"api_key": "k"})
		for name, read := range map[string]func(){
			"unknown": func() { v.Text("aip_key") }, "of another type": func() { v.Number("api_key") },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s was read", name)
					}
				}()
				read()
			}()
		}
	})
	t.Run("secrets are named and not shown", func(t *testing.T) {
		t.Parallel()
		var values gateway.Values
		shown, secrets := kindWith(&values, nil).Shown(merchant.Settings{"api_key": "k", "sftp": settings{"host": "h", "password": "p"}})
		want := "map[booking:true entries:0 folder: format:new lead_days:2 sftp:map[host:h port:22]] [api_key sftp.password]"
		if got := fmt.Sprint(shown, " ", secrets); got != want {
			t.Errorf("shows %s", got)
		}
	})
}

func TestSecretsAreStruckOut(t *testing.T) {
	t.Parallel()
	adapter := &scripted{}
	b := setup(t, payment.Outcome{}, errors.New("the key sk_live_abc is not valid"))
	adapter.answer = b.adapter.answer
	client, err := gateway.NewClient(kindOf(adapter), accountWith(settings{"api_key": "sk_live_abc"}), gateway.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b.Client = client
	for _, operation := range operations {
		if _, err := b.ask(t, operation); err == nil || strings.Contains(err.Error(), "sk_live_abc") || !strings.Contains(err.Error(), "is not valid") {
			t.Errorf("%s says %v", operation, err)
		}
	}
}
