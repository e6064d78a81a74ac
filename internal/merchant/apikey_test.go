package merchant

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

func TestNewAPIKey(t *testing.T) {
	t.Parallel()
	for environment, form := range map[Environment]string{Sandbox: `^rk_test_[a-z2-7]{40}$`, Production: `^rk_live_[a-z2-7]{40}$`} {
		seen := map[string]bool{}
		for range 1000 {
			key := NewAPIKey(environment)
			if !regexp.MustCompile(form).MatchString(key) || seen[key] {
				t.Fatalf("a key for %s has not the form %s or came before", environment, form)
			}
			seen[key] = true
			if !KeyFitsEnvironment(key, environment) {
				t.Fatalf("a key for %s does not fit it", environment)
			}
			if shown := KeyDisplayPrefix(key); len(shown) != 12 || !strings.HasPrefix(key, shown) {
				t.Fatalf("%q is shown", shown)
			}
		}
	}
}

func TestKeyFitsEnvironment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key           string
		sandbox, live bool
	}{
		{"rk_test_abc", true, false},
		{"rk_live_abc", false, true},
		{"rk_test_", false, false},
		{"rk_live_", false, false},
		{"RK_TEST_abc", false, false},
		{"ps_abc", false, false},
		{" rk_test_abc", false, false},
		{"", false, false},
	} {
		if KeyFitsEnvironment(c.key, Sandbox) != c.sandbox || KeyFitsEnvironment(c.key, Production) != c.live {
			t.Errorf("%q fits the wrong environment", c.key)
		}
	}
	if !Sandbox.Valid() || !Production.Valid() || Environment("staging").Valid() || Environment("").Valid() {
		t.Error("there are two environments")
	}
}

func TestHashAPIKey(t *testing.T) {
	t.Parallel()
	// The known digest of "abc" from the standard that defines SHA-256.
	if got := HashAPIKey("abc"); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("got %s", got)
	}
	if (APIKey{}).Revoked() || !(APIKey{RevokedAt: time.Unix(1, 0)}).Revoked() {
		t.Error("a key is revoked once it has a time of it")
	}
}

func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	const text = "whsec_0123456789"
	profile := WebhookProfile{SigningSecret: text, PreviousSecret: text}
	account := GatewayAccount{Settings: Settings{"token": text}}
	var log strings.Builder
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(handler).Info("set up", "secret", profile.SigningSecret, "settings", account.Settings, "profile", profile)
	}
	encoded, err := json.Marshal(profile)
	if err != nil {
		t.Fatal(err)
	}
	prints := []string{log.String(), string(encoded)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{profile.SigningSecret, &profile, profile, account, account.Settings, FileAPIKey{Key: text}} {
			prints = append(prints, fmt.Sprintf(verb, value))
		}
	}
	for _, print := range prints {
		if strings.Contains(print, text) || strings.Contains(print, fmt.Sprintf("%x", text)) {
			t.Errorf("shown in %s", print)
		}
	}
	if profile.SigningSecret.Reveal() != text || profile.SigningSecret.IsZero() || !Secret("").IsZero() {
		t.Error("a secret must be there for whoever needs it")
	}
}

func TestSetupFindsWhatIsActive(t *testing.T) {
	t.Parallel()
	on, off, none := uuid.New(), uuid.New(), uuid.New()
	s := &Setup{
		Gateways:        map[uuid.UUID]GatewayAccount{on: {ID: on, Active: true}, off: {ID: off}},
		WebhookProfiles: map[uuid.UUID]WebhookProfile{on: {ID: on, Active: true}, off: {ID: off, Default: true}},
		HostedPages:     map[uuid.UUID]HostedPage{on: {ID: on, Active: true}, off: {ID: off}},
		Offers:          map[uuid.UUID]Offer{on: {ID: on, Active: true}, off: {ID: off}},
		Campaigns:       map[uuid.UUID]Campaign{on: {ID: on, Active: true}, off: {ID: off}},
	}
	for name, find := range map[string]func(*Setup, uuid.UUID) (uuid.UUID, bool){
		"gateway":         func(s *Setup, id uuid.UUID) (uuid.UUID, bool) { r, ok := s.Gateway(id); return r.ID, ok },
		"webhook profile": func(s *Setup, id uuid.UUID) (uuid.UUID, bool) { r, ok := s.WebhookProfile(id); return r.ID, ok },
		"hosted page":     func(s *Setup, id uuid.UUID) (uuid.UUID, bool) { r, ok := s.HostedPage(id); return r.ID, ok },
		"offer":           func(s *Setup, id uuid.UUID) (uuid.UUID, bool) { r, ok := s.Offer(id); return r.ID, ok },
		"campaign":        func(s *Setup, id uuid.UUID) (uuid.UUID, bool) { r, ok := s.Campaign(id); return r.ID, ok },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if id, ok := find(s, on); !ok || id != on {
				t.Error("an active one is not found")
			}
			for _, hidden := range []uuid.UUID{off, none} {
				if id, ok := find(s, hidden); ok || id != uuid.Nil {
					t.Error("one that is inactive or not there is found")
				}
			}
			if _, ok := find(&Setup{}, on); ok {
				t.Error("an empty set-up has one")
			}
		})
	}
}

func TestDefaultWebhookProfile(t *testing.T) {
	t.Parallel()
	plain, off, standard := uuid.New(), uuid.New(), uuid.New()
	s := &Setup{WebhookProfiles: map[uuid.UUID]WebhookProfile{plain: {ID: plain, Active: true}, off: {ID: off, Default: true}}}
	if p, ok := s.DefaultWebhookProfile(); ok {
		t.Errorf("%s is no default that is active", p.ID)
	}
	s.WebhookProfiles[standard] = WebhookProfile{ID: standard, Default: true, Active: true, Events: []payment.EventKind{payment.EventSessionCompleted}}
	p, ok := s.DefaultWebhookProfile()
	if !ok || p.ID != standard {
		t.Errorf("found %s", p.ID)
	}
	if !p.Wants(payment.EventSessionCompleted) || p.Wants(payment.EventChargebackCreated) {
		t.Error("a profile wants the events that it names")
	}
}
