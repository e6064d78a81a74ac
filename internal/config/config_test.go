package config

import (
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"sepad/internal/checkout"
	"sepad/internal/gateway"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/vault"
	"sepad/internal/webhook"
)

// sufficient is the least that a server needs.
func sufficient() Settings {
	return Settings{Database: Database{DatabaseURL: "sqlite:sepad.db", EncryptionKeys: vault.GenerateKey()}}
}

const day = 24 * time.Hour

// TestConfigDefaults holds the defaults to those of the parts they are for.
func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	c, err := sufficient().Config()
	if err != nil {
		t.Fatal(err)
	}
	if c.Vault == nil {
		t.Error("there is no vault")
	}
	c.Vault = nil
	want := Config{
		Environment: merchant.Sandbox, Listen: "127.0.0.1:8080", DatabaseURL: "sqlite:sepad.db",
		SessionTTL: checkout.DefaultSessionTTL, GatewayTimeout: gateway.DefaultTimeout, Rates: limit.DefaultRates(),
		DatabaseTimeout: 5 * time.Second,
		LookupSchedule:  checkout.DefaultLookupSchedule(), WebhookSchedule: webhook.DefaultSchedule(), Dunning: payment.DefaultDunning(),
		OIDC:   OIDC{RoleClaim: "sepad_role", TenantsClaim: "sepad_tenants", ACR: []string{}},
		Retain: Retention{Sessions: 90 * day, Events: 90 * day, DeliveryLogs: 30 * day, Evidence: 1500 * day, BankFiles: 3650 * day},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v", c)
	}
}

func TestConfigReadsEverySetting(t *testing.T) {
	t.Parallel()
	banks := filepath.Join(t.TempDir(), "banks.tsv")
	if err := os.WriteFile(banks, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := sufficient()
	s.Environment, s.DatabaseURL, s.Listen = "production", "postgres://u:p@db/sepad", ":9090"
	s.DatabaseReplicaURL = "postgres://u:p@standby/sepad"
	s.PublicURL, s.RedisURL, s.TrustedProxies = "https://pay.example/sepad/", "rediss://cache:6379/2", "10.0.0.0/8, ::1"
	s.AdminToken, s.SessionTTL, s.GatewayTimeout = "a-token-that-is-long-enough-1234567", "90m", "10s"
	s.LookupSchedule, s.BankDirectory, s.LogFormat, s.OTLPEndpoint = "1s, 2m", banks, "json", "http://otel:4318"
	s.WebhookSchedule, s.WebhookAllowPrivate = "2s,1h", "true"
	s.DatabaseTimeout, s.ShutdownDelay = "2s", "15s"
	s.DunningDays, s.ChargebackKeepsSubscription = "2, 4d", "true"
	s.AllowTestGateways, s.MetricsToken = "true", "another-token-that-is-long-1234567"
	s.Rates.BrowserPay, s.Rates.APIKeyCreate = "100", "0"
	s.Retain = RetentionSettings{Sessions: "7", Events: "180d", DeliveryLogs: "0", Evidence: "425", BankFiles: "2920"}
	s.OIDC = OIDCSettings{Issuer: "https://login.example", ClientID: "sepad", ClientSecret: "a-secret", RoleClaim: "realm_access.roles", TenantsClaim: "shops", ACR: "phr, mfa"}
	c, err := s.Config()
	if err != nil {
		t.Fatal(err)
	}
	rates := limit.DefaultRates()
	rates[limit.BrowserPay], rates[limit.APIKeyCreate] = 100, 0
	want := Config{
		Environment: merchant.Production, Listen: ":9090", PublicURL: "https://pay.example/sepad",
		DatabaseURL: "postgres://u:p@db/sepad", DatabaseReplicaURL: "postgres://u:p@standby/sepad", RedisURL: "rediss://cache:6379/2", TrustedProxies: c.TrustedProxies,
		AdminToken: "a-token-that-is-long-enough-1234567", SessionTTL: 90 * time.Minute, GatewayTimeout: 10 * time.Second,
		DatabaseTimeout: 2 * time.Second, ShutdownDelay: 15 * time.Second,
		LookupSchedule: []time.Duration{time.Second, 2 * time.Minute}, Rates: rates, BankDirectory: banks,
		LogFormat: "json", OTLPEndpoint: "http://otel:4318", Vault: c.Vault,
		WebhookSchedule: []time.Duration{2 * time.Second, time.Hour}, WebhookAllowPrivate: true,
		Dunning: payment.Dunning{2, 4}, KeepSubscriptions: true, AllowTestGateways: true, MetricsToken: "another-token-that-is-long-1234567",
		OIDC:   OIDC{Issuer: "https://login.example", ClientID: "sepad", ClientSecret: "a-secret", RoleClaim: "realm_access.roles", TenantsClaim: "shops", ACR: []string{"phr", "mfa"}},
		Retain: Retention{Sessions: 7 * day, Events: 180 * day, Evidence: 425 * day, BankFiles: 2920 * day},
	}
	if !reflect.DeepEqual(c, want) || len(c.TrustedProxies) != 2 {
		t.Errorf("got %+v", c)
	}
}

func TestConfigNamesTheWrongSetting(t *testing.T) {
	t.Parallel()
	// Every secret that is given here holds this word, and no sentence may.
	const secret = "hunter2"
	for _, example := range []struct {
		name   string
		change func(*Settings)
		want   string
	}{
		{"no database", func(s *Settings) { s.DatabaseURL = "" }, "SEPAD_DATABASE_URL is not set: name a database as sqlite:PATH or postgres://…"},
		{"a database of an unknown kind", func(s *Settings) { s.DatabaseURL = "mysql://u:" + secret + "@h/d" }, "SEPAD_DATABASE_URL: it begins with sqlite: or postgres://"},
		{"SQLite without a path", func(s *Settings) { s.DatabaseURL = "sqlite:" }, "SEPAD_DATABASE_URL: sqlite: is followed by the path of a file"},
		{"a replica of an unknown kind", func(s *Settings) { s.DatabaseReplicaURL = "mysql://u:" + secret + "@h/d" }, "SEPAD_DATABASE_REPLICA_URL: it begins with postgres://"},
		{"a replica of a file", func(s *Settings) { s.DatabaseReplicaURL = "postgres://u:" + secret + "@h/d" }, "SEPAD_DATABASE_REPLICA_URL: a SQLite database has no replica"},
		{"a schedule of words", func(s *Settings) { s.WebhookSchedule = "soon" }, `SEPAD_WEBHOOK_SCHEDULE: "soon" is not a list of durations up to 168h, such as 5s,30s,2m`},
		{"a word that is no answer", func(s *Settings) { s.WebhookAllowPrivate = "yes" }, `SEPAD_WEBHOOK_ALLOW_PRIVATE: "yes" is neither true nor false`},
		{"no encryption key", func(s *Settings) { s.EncryptionKeys = "" }, "SEPAD_ENCRYPTION_KEYS is not set: give at least one key"},
		{"an encryption key that is too short", func(s *Settings) { s.EncryptionKeys = "main:" + secret }, "SEPAD_ENCRYPTION_KEYS: key 1 must be 32 bytes in base64"},
		{"an unknown environment", func(s *Settings) { s.Environment = "staging" }, `SEPAD_ENVIRONMENT: "staging" is neither sandbox nor production`},
		{"production without a public address", func(s *Settings) { s.Environment = "production" }, "SEPAD_PUBLIC_URL is not set: production needs"},
		{"production with a short admin token", func(s *Settings) {
			s.Environment, s.PublicURL, s.AdminToken = "production", "https://pay.example", secret
		}, "SEPAD_ADMIN_TOKEN: in production it has at least 32 characters"},
		{"production with a token of few characters", func(s *Settings) {
			s.Environment, s.PublicURL, s.MetricsToken = "production", "https://pay.example", strings.Repeat("ab", 20)
		}, "SEPAD_METRICS_TOKEN: in production it has at least 32 characters, 10 of them different ones"},
		{"production over http", func(s *Settings) { s.Environment, s.PublicURL = "production", "http://pay.example" }, "SEPAD_PUBLIC_URL: in production it begins with https://"},
		{"an address without a port", func(s *Settings) { s.Listen = "localhost" }, `SEPAD_LISTEN: "localhost" is not an address such as 127.0.0.1:8080`},
		{"a port that does not exist", func(s *Settings) { s.Listen = ":70000" }, "SEPAD_LISTEN: "},
		{"a public address without a scheme", func(s *Settings) { s.PublicURL = "pay.example" }, "SEPAD_PUBLIC_URL: it must be an address such as"},
		{"a public address with a password", func(s *Settings) { s.PublicURL = "https://u:" + secret + "@pay.example" }, "SEPAD_PUBLIC_URL: "},
		{"a Redis that is none", func(s *Settings) { s.RedisURL = "http://:" + secret + "@cache" }, "SEPAD_REDIS_URL: it must be an address such as redis://localhost:6379"},
		{"a proxy that is no network", func(s *Settings) { s.TrustedProxies = "10.0.0.0/8,nonsense" }, "SEPAD_TRUSTED_PROXIES: entry 2"},
		{"a word for a duration", func(s *Settings) { s.GatewayTimeout = "abc" }, `SEPAD_GATEWAY_TIMEOUT: "abc" is not a duration such as 30s or 24h`},
		{"a duration without a unit", func(s *Settings) { s.SessionTTL = "24" }, `SEPAD_SESSION_TTL: "24" is not a duration such as 30s or 24h`},
		{"a duration of nothing", func(s *Settings) { s.SessionTTL = "0s" }, "SEPAD_SESSION_TTL: 0s is not between 0s and 8784h"},
		{"a duration that never ends", func(s *Settings) { s.GatewayTimeout = "1h" }, "SEPAD_GATEWAY_TIMEOUT: 1h is not between 0s and 10m"},
		{"a list with a gap", func(s *Settings) { s.LookupSchedule = "5s,,1m" }, `SEPAD_LOOKUP_SCHEDULE: "5s,,1m" is not a list of durations`},
		{"a list with a word", func(s *Settings) { s.LookupSchedule = "5s,soon" }, "SEPAD_LOOKUP_SCHEDULE: "},
		{"events that merchants are promised", func(s *Settings) { s.Retain.Events = "89" }, "SEPAD_RETAIN_EVENTS: "},
		{"evidence that may be asked for", func(s *Settings) { s.Retain.Evidence = "424" }, "SEPAD_RETAIN_EVIDENCE: "},
		{"a negative rate", func(s *Settings) { s.Rates.BrowserPay = "-1" }, "SEPAD_RATE_BROWSER_PAY: it is a number"},
		{"a directory that is missing", func(s *Settings) { s.BankDirectory = "nowhere.tsv" }, "SEPAD_BANK_DIRECTORY: open nowhere.tsv"},
		{"an unknown form of log", func(s *Settings) { s.LogFormat = "xml" }, `SEPAD_LOG_FORMAT: "xml" is neither text nor json`},
		{"a collector without a scheme", func(s *Settings) { s.OTLPEndpoint = "otel:4318" }, "SEPAD_OTLP_ENDPOINT: it must be an address such as http://localhost:4318"},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			s := sufficient()
			example.change(&s)
			_, err := s.Config()
			if err == nil || !strings.HasPrefix(err.Error(), example.want) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestSettingsAndFlagsHaveTheSameNames also holds the settings to the list that
// deployments rely on.
func TestSettingsAndFlagsHaveTheSameNames(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&Settings{})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, flag := range parser.Model.Flags {
		if flag.Name == "help" {
			continue
		}
		want := "SEPAD_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		if flag.Help == "" || flag.PlaceHolder == "" {
			t.Errorf("--%s does not explain itself", flag.Name)
		}
		if len(flag.Envs) != 1 || flag.Envs[0] != want {
			t.Errorf("--%s is set by %v, want %s", flag.Name, flag.Envs, want)
		}
		known[want] = true
	}
	names := strings.Fields(`SEPAD_ENVIRONMENT SEPAD_LISTEN SEPAD_OPERATOR_LISTEN SEPAD_OPERATOR_URL SEPAD_PUBLIC_URL SEPAD_DATABASE_URL SEPAD_DATABASE_REPLICA_URL
		SEPAD_REDIS_URL SEPAD_ENCRYPTION_KEYS SEPAD_TRUSTED_PROXIES SEPAD_ADMIN_TOKEN SEPAD_SESSION_TTL
		SEPAD_WEBHOOK_ALLOW_PRIVATE SEPAD_GATEWAY_TIMEOUT SEPAD_LOOKUP_SCHEDULE SEPAD_WEBHOOK_SCHEDULE SEPAD_DUNNING_DAYS
		SEPAD_BANK_DIRECTORY SEPAD_LOG_FORMAT SEPAD_OTLP_ENDPOINT SEPAD_CHARGEBACK_KEEPS_SUBSCRIPTION
		SEPAD_ALLOW_TEST_GATEWAYS SEPAD_METRICS_TOKEN SEPAD_DATABASE_TIMEOUT SEPAD_SHUTDOWN_DELAY SEPAD_SMTP_URL SEPAD_RETAIN_SESSIONS SEPAD_RETAIN_EVENTS
		SEPAD_RETAIN_DELIVERY_LOGS SEPAD_RETAIN_EVIDENCE SEPAD_RETAIN_BANK_FILES
		SEPAD_OIDC_ISSUER SEPAD_OIDC_CLIENT_ID SEPAD_OIDC_CLIENT_SECRET SEPAD_OIDC_ROLE_CLAIM SEPAD_OIDC_TENANTS_CLAIM SEPAD_OIDC_ACR`)
	for _, scope := range limit.Scopes() {
		names = append(names, scope.Setting())
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("%s is no setting", name)
		}
		delete(known, name)
	}
	if len(known) > 0 {
		t.Errorf("settings that are not in the list: %v", known)
	}
}

func TestRatesReachTheirScopes(t *testing.T) {
	t.Parallel()
	for _, scope := range limit.Scopes() {
		s := sufficient()
		flag := "--" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(scope.Setting(), "SEPAD_"), "_", "-"))
		parser, err := kong.New(&s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse([]string{flag + "=7", "--database-url=sqlite:x", "--encryption-keys=" + vault.GenerateKey()}); err != nil {
			t.Fatal(err)
		}
		c, err := s.Config()
		if err != nil {
			t.Fatal(err)
		}
		want := limit.DefaultRates()
		want[scope] = 7
		if !reflect.DeepEqual(c.Rates, want) {
			t.Errorf("%s: got %v", flag, c.Rates)
		}
	}
}

func TestReachedAt(t *testing.T) {
	t.Parallel()
	for listening, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", "0.0.0.0:80": "http://localhost:80",
		"[::]:8080": "http://localhost:8080", "[::1]:8080": "http://[::1]:8080",
	} {
		address, err := net.ResolveTCPAddr("tcp", listening)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Config{}).ReachedAt(address).PublicURL; got != want {
			t.Errorf("%s: got %s", listening, got)
		}
		if got := (Config{PublicURL: "https://pay.example"}).ReachedAt(address).PublicURL; got != "https://pay.example" {
			t.Errorf("a set address became %s", got)
		}
	}
}
