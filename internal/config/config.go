package config

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/notice"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/vault"
	"sepad/internal/web"
)

// Config is what a server is made from.
type Config struct {
	sepa.Masked
	Environment merchant.Environment
	Listen      string
	// OperatorListen is where operators are answered, "" for beside everything else.
	OperatorListen string
	// PublicURL has no slash at its end. It is "" in a sandbox that was told
	// none, until the address that it listens on is known (ReachedAt).
	PublicURL string
	// OperatorURL is where operators reach the dashboard, likewise.
	OperatorURL string
	DatabaseURL string
	// DatabaseReplicaURL is "" without a replica.
	DatabaseReplicaURL string
	RedisURL           string
	Vault              *vault.Vault
	TrustedProxies     web.TrustedProxies
	AdminToken         string
	// MetricsToken opens /metrics alone.
	MetricsToken string
	// OpenMetrics shows them to everybody; only sepad dev does.
	OpenMetrics    bool
	SessionTTL     time.Duration
	GatewayTimeout time.Duration
	// DatabaseTimeout bounds a step of work for which somebody waits.
	DatabaseTimeout time.Duration
	// ShutdownDelay is between saying that the process leaves and leaving.
	ShutdownDelay  time.Duration
	LookupSchedule []time.Duration
	// WebhookSchedule holds the waits between attempts at a delivery.
	WebhookSchedule []time.Duration
	// Dunning is when a refused rebill is tried again.
	Dunning payment.Dunning
	// KeepSubscriptions lets a subscription go on after a chargeback.
	KeepSubscriptions bool
	// AllowTestGateways lets production have accounts that move no money.
	AllowTestGateways bool
	// WebhookAllowPrivate lets events be sent to private networks.
	WebhookAllowPrivate bool
	Rates               limit.Rates
	// SMTP is where mails are handed in, nil for nowhere.
	SMTP          *notice.Server
	BankDirectory string
	LogFormat     string
	OTLPEndpoint  string
	// OIDC is who vouches for operators; without an issuer nobody does.
	OIDC   OIDC
	Retain Retention
}

// OIDC is an OpenID provider, as this installation is known there.
type OIDC struct {
	sepa.Masked
	Issuer, ClientID, ClientSecret string
	RoleClaim, TenantsClaim        string
	// ACR are the strengths of a sign-in there, one of which is needed; none for any.
	ACR []string
}

// Retention is how long data is kept that nobody needs; 0 is for ever.
type Retention struct {
	Sessions, Events, DeliveryLogs, Evidence, BankFiles time.Duration
}

// Access is what a short command needs of the settings.
type Access struct {
	sepa.Masked
	Environment       merchant.Environment
	DatabaseURL       string
	Vault             *vault.Vault
	Dunning           payment.Dunning
	KeepSubscriptions bool
	AllowTestGateways bool
}

const (
	// minToken and minVariety keep a production's tokens from being guessed.
	minToken   = 32
	minVariety = 10

	maxSessionTTL                        = 366 * 24 * time.Hour
	maxGatewayTimeout                    = 10 * time.Minute
	maxDatabaseTimeout, maxShutdownDelay = time.Minute, 5 * time.Minute
	maxLookupWait                        = 7 * 24 * time.Hour
	maxWebhookWait                       = 7 * 24 * time.Hour
)

// Access reads the settings of a short command. As with Config, its error is an
// Errors that names every setting which is wrong or missing.
func (s Database) Access() (Access, error) {
	r := newReader(&s, s.problems)
	a := s.access(r)
	if s.EncryptionKeys == "" {
		r.missing(&s.EncryptionKeys, needsKeys)
	}
	return a, r.err()
}

// KeylessAccess is Access for commands that can do without keys; the Vault is nil
// then.
func (s Database) KeylessAccess() (Access, error) {
	r := newReader(&s, s.problems)
	a := s.access(r)
	return a, r.err()
}

const needsKeys = "give at least one key as name:base64 of 32 bytes, such as main:$(openssl rand -base64 32)"

func (s *Database) access(r *reader) Access {
	a := Access{
		Environment:       parsed(r, &s.Environment, parseEnvironment),
		DatabaseURL:       r.checked(&s.DatabaseURL, checkDatabaseURL),
		Dunning:           parsed(r, &s.DunningDays, parseDays),
		KeepSubscriptions: parsed(r, &s.ChargebackKeepsSubscription, parseBool),
		AllowTestGateways: parsed(r, &s.AllowTestGateways, parseBool),
	}
	if s.DatabaseURL == "" {
		r.missing(&s.DatabaseURL, "name a database as sqlite:PATH or postgres://…")
	}
	if s.EncryptionKeys != "" {
		var err error
		a.Vault, err = vault.New(s.EncryptionKeys)
		r.note(err)
	}
	return a
}

// Config reads the settings of a server.
func (s Settings) Config() (Config, error) {
	r := newReader(&s, s.problems)
	access := s.access(r)
	if s.EncryptionKeys == "" {
		r.missing(&s.EncryptionKeys, needsKeys)
	}
	c := Config{
		Environment: access.Environment, DatabaseURL: access.DatabaseURL, Vault: access.Vault,
		Dunning: access.Dunning, KeepSubscriptions: access.KeepSubscriptions, AllowTestGateways: access.AllowTestGateways,

		Listen:             r.checked(&s.Listen, checkListen),
		OperatorListen:     r.checked(&s.OperatorListen, checkListen),
		PublicURL:          strings.TrimRight(r.checked(&s.PublicURL, checkPublicURL), "/"),
		OperatorURL:        strings.TrimRight(r.checked(&s.OperatorURL, checkPublicURL), "/"),
		DatabaseReplicaURL: r.checked(&s.DatabaseReplicaURL, checkReplicaURL(access.DatabaseURL)),
		RedisURL:           r.checked(&s.RedisURL, checkAddress("redis://localhost:6379", "redis", "rediss", "unix")),
		AdminToken:         s.AdminToken,
		MetricsToken:       s.MetricsToken,

		SessionTTL:      parsed(r, &s.SessionTTL, parseDuration(maxSessionTTL)),
		GatewayTimeout:  parsed(r, &s.GatewayTimeout, parseDuration(maxGatewayTimeout)),
		DatabaseTimeout: parsed(r, &s.DatabaseTimeout, parseDuration(maxDatabaseTimeout)),
		ShutdownDelay:   parsed(r, &s.ShutdownDelay, parseDelay(maxShutdownDelay)),
		LookupSchedule:  parsed(r, &s.LookupSchedule, parseDurations(maxLookupWait)),
		WebhookSchedule: parsed(r, &s.WebhookSchedule, parseDurations(maxWebhookWait)),

		WebhookAllowPrivate: parsed(r, &s.WebhookAllowPrivate, parseBool),
		SMTP:                parsed(r, &s.SMTPURL, parseSMTP),
		BankDirectory:       r.checked(&s.BankDirectory, checkFile),
		LogFormat:           r.checked(&s.LogFormat, checkLogFormat),
		OTLPEndpoint:        r.checked(&s.OTLPEndpoint, checkAddress("http://localhost:4318", "http", "https")),
		TrustedProxies:      parsed(r, &s.TrustedProxies, web.ParseTrustedProxies),
		Rates:               s.Rates.read(r),
		Retain:              s.Retain.read(r),
		OIDC:                s.OIDC.read(r),
	}
	if c.Environment == merchant.Production {
		s.checkProduction(r)
	}
	return c, r.err()
}

// checkProduction asks for what only production needs.
func (s *Settings) checkProduction(r *reader) {
	if s.PublicURL == "" {
		r.missing(&s.PublicURL, "production needs the address at which payers reach it, such as https://pay.example")
	}
	if strings.HasPrefix(s.PublicURL, "http://") {
		r.wrong(&s.PublicURL, "in production it begins with https://")
	}
	if strings.HasPrefix(s.OIDC.Issuer, "http://") {
		r.wrong(&s.OIDC.Issuer, "in production it begins with https://")
	}
	for _, token := range []*string{&s.AdminToken, &s.MetricsToken} {
		if *token != "" && (len(*token) < minToken || distinct(*token) < minVariety) {
			r.wrong(token, "in production it has at least %d characters, %d of them different ones; openssl rand -hex 32 makes a good one", minToken, minVariety)
		}
	}
}

// distinct counts the different characters of a text.
func distinct(text string) int {
	seen := map[rune]bool{}
	for _, letter := range text {
		seen[letter] = true
	}
	return len(seen)
}

// read takes all of a provider, or none of it.
func (s *OIDCSettings) read(r *reader) OIDC {
	given := []*string{&s.Issuer, &s.ClientID, &s.ClientSecret}
	isAny := slices.ContainsFunc(given, func(text *string) bool { return *text != "" })
	for _, text := range given {
		if isAny && *text == "" {
			r.missing(text, "an OpenID provider is named by SEPAD_OIDC_ISSUER, SEPAD_OIDC_CLIENT_ID and SEPAD_OIDC_CLIENT_SECRET together")
		}
	}
	return OIDC{
		Issuer: r.checked(&s.Issuer, checkAddress("https://login.example", "http", "https")), ClientID: s.ClientID, ClientSecret: s.ClientSecret,
		RoleClaim: r.text(&s.RoleClaim), TenantsClaim: r.text(&s.TenantsClaim),
		ACR: strings.FieldsFunc(s.ACR, func(letter rune) bool { return letter == ',' || letter == ' ' }),
	}
}

// read gives each scope the rate that its setting says.
func (rates *RateSettings) read(r *reader) limit.Rates {
	read := limit.Rates{}
	for _, field := range fieldsOf(rates) {
		scope := limit.Scope(strings.ToLower(strings.TrimPrefix(field.Name, limit.SettingPrefix)))
		read[scope] = parsed(r, field.text, limit.ParseRate)
	}
	return read
}

// What must be kept at least: merchants are promised their events for so long, and a
// debit can be disputed for thirteen months.
const (
	leastEvents   = 90
	leastEvidence = 425
)

func (s *RetentionSettings) read(r *reader) Retention {
	return Retention{
		Sessions:     parsed(r, &s.Sessions, parseRetention(1)),
		Events:       parsed(r, &s.Events, parseRetention(leastEvents)),
		DeliveryLogs: parsed(r, &s.DeliveryLogs, parseRetention(1)),
		Evidence:     parsed(r, &s.Evidence, parseRetention(leastEvidence)),
		BankFiles:    parsed(r, &s.BankFiles, parseRetention(1)),
	}
}

// ReachedAt gives a sandbox that was told no public address the one that it
// listens on.
func (c Config) ReachedAt(listening net.Addr) Config {
	c.PublicURL = cmp.Or(c.PublicURL, reachedAt(listening.String()))
	c.OperatorURL = Addresses{OperatorURL: c.OperatorURL, OperatorListen: c.OperatorListen, PublicURL: c.PublicURL}.Dashboard()
	return c
}

// Dashboard is where operators reach it, as far as the settings tell.
func (a Addresses) Dashboard() string {
	return strings.TrimRight(cmp.Or(a.OperatorURL, reachedAt(a.OperatorListen), a.PublicURL, reachedAt(a.Listen), "http://127.0.0.1:8080"), "/")
}

// reachedAt is the address under which somebody on this machine finds one that is
// listened on, "" for none.
func reachedAt(listening string) string {
	host, port, err := net.SplitHostPort(listening)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost" // nobody can call 0.0.0.0
	}
	return (&url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}).String()
}
