package config

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/gateway"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/vault"
	"sepad/internal/web"
	"sepad/internal/webhook"
)

// Config is what a server is made from.
type Config struct {
	Environment merchant.Environment
	Listen      string
	// PublicURL has no slash at its end. It is "" in a sandbox that was told
	// none, until the address that it listens on is known (ReachedAt).
	PublicURL   string
	DatabaseURL string
	// DatabaseReplicaURL is "" without a replica.
	DatabaseReplicaURL string
	RedisURL           string
	Vault              *vault.Vault
	TrustedProxies     web.TrustedProxies
	AdminToken         string
	SessionTTL         time.Duration
	GatewayTimeout     time.Duration
	LookupSchedule     []time.Duration
	// WebhookSchedule holds the waits between attempts at a delivery.
	WebhookSchedule []time.Duration
	// Dunning is when a refused rebill is tried again.
	Dunning payment.Dunning
	// KeepSubscriptions lets a subscription go on after a chargeback.
	KeepSubscriptions bool
	// WebhookAllowPrivate lets events be sent to private networks.
	WebhookAllowPrivate bool
	Rates               limit.Rates
	BankDirectory       string
	LogFormat           string
	OTLPEndpoint        string
}

// Access is what a short command needs of the settings.
type Access struct {
	Environment       merchant.Environment
	DatabaseURL       string
	Vault             *vault.Vault
	Dunning           payment.Dunning
	KeepSubscriptions bool
}

const (
	defaultListen = "127.0.0.1:8080"
	// minAdminToken keeps a production's admin token from being guessed.
	minAdminToken = 16

	maxSessionTTL     = 366 * 24 * time.Hour
	maxGatewayTimeout = 10 * time.Minute
	maxLookupWait     = 7 * 24 * time.Hour
	maxWebhookWait    = 7 * 24 * time.Hour
)

// Access reads the settings of a short command.
func (s Database) Access() (Access, error) {
	var a Access
	var err error
	if a.Environment, err = parseEnvironment(s.Environment); err != nil {
		return Access{}, err
	}
	if a.DatabaseURL, err = parseDatabaseURL(s.DatabaseURL); err != nil {
		return Access{}, err
	}
	if strings.TrimSpace(s.EncryptionKeys) == "" {
		return Access{}, errors.New("SEPAD_ENCRYPTION_KEYS is not set: give at least one key as name:base64 of 32 bytes, such as main:$(openssl rand -base64 32)")
	}
	if a.Dunning, err = parseDays("SEPAD_DUNNING_DAYS", s.DunningDays, payment.DefaultDunning()); err != nil {
		return Access{}, err
	}
	if a.KeepSubscriptions, err = parseBool("SEPAD_CHARGEBACK_KEEPS_SUBSCRIPTION", s.KeepSubscriptions); err != nil {
		return Access{}, err
	}
	a.Vault, err = vault.New(s.EncryptionKeys)
	return a, err
}

// Config reads the settings of a server; its error names the first that is
// wrong or missing.
func (s Settings) Config() (Config, error) {
	access, err := s.Access()
	if err != nil {
		return Config{}, err
	}
	c := Config{
		Environment: access.Environment, DatabaseURL: access.DatabaseURL, Vault: access.Vault,
		Dunning: access.Dunning, KeepSubscriptions: access.KeepSubscriptions, AdminToken: s.AdminToken,
	}
	for _, read := range []func(*Config) error{s.readAddresses, s.readTimes, s.readWebhooks, s.readLimits, s.readOutputs} {
		if err := read(&c); err != nil {
			return Config{}, err
		}
	}
	if c.Environment == merchant.Production && c.AdminToken != "" && len(c.AdminToken) < minAdminToken {
		return Config{}, wrong("SEPAD_ADMIN_TOKEN", "in production it has at least %d characters", minAdminToken)
	}
	return c, nil
}

func (s Settings) readAddresses(c *Config) (err error) {
	if c.Listen, err = parseListen(s.Listen); err != nil {
		return err
	}
	if c.PublicURL, err = parsePublicURL(s.PublicURL); err != nil {
		return err
	}
	if c.PublicURL == "" && c.Environment == merchant.Production {
		return errors.New("SEPAD_PUBLIC_URL is not set: production needs the address at which payers reach it, such as https://pay.example")
	}
	if c.DatabaseReplicaURL, err = parseReplicaURL(s.DatabaseReplicaURL, c.DatabaseURL); err != nil {
		return err
	}
	if c.RedisURL, err = parseAddress("SEPAD_REDIS_URL", s.RedisURL, "redis://localhost:6379", "redis", "rediss", "unix"); err != nil {
		return err
	}
	c.TrustedProxies, err = web.ParseTrustedProxies(s.TrustedProxies)
	return err
}

func (s Settings) readTimes(c *Config) (err error) {
	if c.SessionTTL, err = parseDuration("SEPAD_SESSION_TTL", s.SessionTTL, checkout.DefaultSessionTTL, maxSessionTTL); err != nil {
		return err
	}
	if c.GatewayTimeout, err = parseDuration("SEPAD_GATEWAY_TIMEOUT", s.GatewayTimeout, gateway.DefaultTimeout, maxGatewayTimeout); err != nil {
		return err
	}
	c.LookupSchedule, err = parseDurations("SEPAD_LOOKUP_SCHEDULE", s.LookupSchedule, checkout.DefaultLookupSchedule(), maxLookupWait)
	return err
}

func (s Settings) readWebhooks(c *Config) (err error) {
	c.WebhookSchedule, err = parseDurations("SEPAD_WEBHOOK_SCHEDULE", s.WebhookSchedule, webhook.DefaultSchedule(), maxWebhookWait)
	if err != nil {
		return err
	}
	c.WebhookAllowPrivate, err = parseBool("SEPAD_WEBHOOK_ALLOW_PRIVATE", s.WebhookAllowPrivate)
	return err
}

func (s Settings) readLimits(c *Config) (err error) {
	given := s.Rates.byScope()
	c.Rates, err = limit.ParseRates(func(setting string) (string, bool) {
		text, known := given[setting]
		return text, known
	})
	return err
}

func (s Settings) readOutputs(c *Config) (err error) {
	if c.LogFormat, err = parseLogFormat(s.LogFormat); err != nil {
		return err
	}
	if c.OTLPEndpoint, err = parseAddress("SEPAD_OTLP_ENDPOINT", s.OTLPEndpoint, "http://localhost:4318", "http", "https"); err != nil {
		return err
	}
	c.BankDirectory, err = parseFile("SEPAD_BANK_DIRECTORY", s.BankDirectory)
	return err
}

// byScope gives the rates by the names of their settings.
func (r RateSettings) byScope() map[string]string {
	return map[string]string{
		limit.APIKeyCreate.Setting():         r.APIKeyCreate,
		limit.APIKeyCancel.Setting():         r.APIKeyCancel,
		limit.APIKeyReconciliation.Setting(): r.APIKeyReconciliation,
		limit.APIKeyRead.Setting():           r.APIKeyRead,
		limit.APIKeyPay.Setting():            r.APIKeyPay,
		limit.APIKeyVerify.Setting():         r.APIKeyVerify,
		limit.BrowserRead.Setting():          r.BrowserRead,
		limit.BrowserPay.Setting():           r.BrowserPay,
		limit.BrowserVerify.Setting():        r.BrowserVerify,
		limit.IBANValidate.Setting():         r.IBANValidate,
		limit.Page.Setting():                 r.Page,
		limit.AuthFailure.Setting():          r.AuthFailure,
	}
}

// ReachedAt gives a sandbox that was told no public address the one that it
// listens on.
func (c Config) ReachedAt(listening net.Addr) Config {
	if c.PublicURL != "" {
		return c
	}
	host, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return c
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost" // nobody can call 0.0.0.0
	}
	c.PublicURL = (&url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}).String()
	return c
}
