package config

import (
	"reflect"
	"slices"
)

// A setting is written once, as a field below: its variable (env), what holds
// where it is not given (default), the form of its text (placeholder), whether it
// is secret, and what it means (help). Flags, variables, --help, the errors of this
// package and the table in docs/operations.md all come from there. The flag is
// the variable's name in small letters without SEPAD_.

// Database says where the data is, how to read it, and the rules that whoever
// works on it goes by. Every command that needs data takes these settings.
type Database struct {
	Environment    string `env:"SEPAD_ENVIRONMENT" default:"sandbox" placeholder:"sandbox|production" help:"What the deployment is for: sandbox or production."`
	DatabaseURL    string `env:"SEPAD_DATABASE_URL" secret:"" placeholder:"URL" help:"The database: sqlite:PATH or postgres://…"`
	EncryptionKeys string `env:"SEPAD_ENCRYPTION_KEYS" secret:"" placeholder:"NAME:KEY,…" help:"Keys for data at rest, each name:base64 of 32 bytes, separated by commas. The first encrypts, all decrypt."`

	DunningDays                 string `env:"SEPAD_DUNNING_DAYS" default:"3,5,7" placeholder:"DAYS,…" help:"Days from a refused try of a rebill to the next, unless its campaign says otherwise; after the last one the subscription is cancelled."`
	ChargebackKeepsSubscription string `env:"SEPAD_CHARGEBACK_KEEPS_SUBSCRIPTION" default:"false" placeholder:"true|false" help:"Whether a subscription goes on after one of its payments was charged back; otherwise it is cancelled."`

	AllowTestGateways string `env:"SEPAD_ALLOW_TEST_GATEWAYS" default:"false" placeholder:"true|false" help:"Whether production takes gateway accounts that move no money; each of them must have test_mode: true."`

	// problems are what Complete has found.
	problems []string
}

// Addresses say where the service answers and is reached.
type Addresses struct {
	Listen         string `env:"SEPAD_LISTEN" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to answer on."`
	OperatorListen string `env:"SEPAD_OPERATOR_LISTEN" placeholder:"HOST:PORT" help:"Address at which the admin API, the dashboard and /metrics answer, and nowhere else. Not set, they answer beside everything else."`
	PublicURL      string `env:"SEPAD_PUBLIC_URL" placeholder:"URL" help:"Where payers and merchants reach the service, such as https://pay.example. Needed in production; elsewhere it follows from the address to answer on."`
	OperatorURL    string `env:"SEPAD_OPERATOR_URL" placeholder:"URL" help:"Where operators reach the dashboard, such as https://counter.example; links for them begin with it. Not set, it follows from the addresses above."`
}

// Settings are all that a server can be told.
type Settings struct {
	Database
	Addresses

	DatabaseReplicaURL  string `env:"SEPAD_DATABASE_REPLICA_URL" secret:"" placeholder:"URL" help:"PostgreSQL replica for reads that may lag a little: reconciliation."`
	RedisURL            string `env:"SEPAD_REDIS_URL" secret:"" placeholder:"URL" help:"Redis in which several processes count rate limits together."`
	TrustedProxies      string `env:"SEPAD_TRUSTED_PROXIES" placeholder:"CIDR,…" help:"Networks of proxies whose X-Forwarded-For is believed."`
	AdminToken          string `env:"SEPAD_ADMIN_TOKEN" secret:"" placeholder:"TOKEN" help:"Bearer token of the admin API. Without it the API is closed."`
	MetricsToken        string `env:"SEPAD_METRICS_TOKEN" secret:"" placeholder:"TOKEN" help:"Bearer token that opens /metrics and nothing else. The admin token opens it too; sepad dev leaves it open."`
	SessionTTL          string `env:"SEPAD_SESSION_TTL" default:"24h" placeholder:"DURATION" help:"How long a session can be paid, unless its campaign says otherwise."`
	GatewayTimeout      string `env:"SEPAD_GATEWAY_TIMEOUT" default:"30s" placeholder:"DURATION" help:"How long a gateway may take to answer."`
	DatabaseTimeout     string `env:"SEPAD_DATABASE_TIMEOUT" default:"5s" placeholder:"DURATION" help:"How long a caller waits for one step of the database before it is told that the service is overloaded."`
	ShutdownDelay       string `env:"SEPAD_SHUTDOWN_DELAY" default:"0s" placeholder:"DURATION" help:"How long /readyz says no before a process that ends stops answering, so that a proxy finds out first."`
	LookupSchedule      string `env:"SEPAD_LOOKUP_SCHEDULE" default:"5s,15s,1m,5m,15m,1h" placeholder:"DURATION,…" help:"Waits before each question about a payment whose outcome is unknown; the last one repeats."`
	WebhookSchedule     string `env:"SEPAD_WEBHOOK_SCHEDULE" default:"5s,30s,2m,10m,1h,3h,6h,12h,12h,12h,12h,12h" placeholder:"DURATION,…" help:"Waits between the attempts to deliver an event; after the last one the delivery has failed."`
	WebhookAllowPrivate string `env:"SEPAD_WEBHOOK_ALLOW_PRIVATE" placeholder:"true|false" help:"Whether events may be sent to private and loopback addresses. Not set, only sepad dev does so."`
	SMTPURL             string `name:"smtp-url" env:"SEPAD_SMTP_URL" secret:"" placeholder:"URL" help:"Mail server for pre-notifications: smtp://user:password@host or smtps://…. smtp needs STARTTLS but to this machine, unless the address ends in ?tls=optional or ?tls=none."`
	BankDirectory       string `env:"SEPAD_BANK_DIRECTORY" placeholder:"FILE" help:"Bank directory to use in place of the built-in one (see sepad banks)."`
	LogFormat           string `env:"SEPAD_LOG_FORMAT" placeholder:"text|json" help:"Form of the log; text on a terminal and json elsewhere when not set."`
	OTLPEndpoint        string `env:"SEPAD_OTLP_ENDPOINT" placeholder:"URL" help:"OpenTelemetry collector for traces, such as http://localhost:4318."`

	OIDC OIDCSettings `embed:"" prefix:"oidc-" group:"Sign-in by an OpenID provider"`

	Retain RetentionSettings `embed:"" prefix:"retain-" group:"Retention (days, 0 keeps for ever)"`

	Rates RateSettings `embed:"" prefix:"rate-" group:"Rate limits (requests per second and caller, 0 is unlimited)"`
}

// OIDCSettings name an OpenID provider that vouches for operators.
type OIDCSettings struct {
	Issuer       string `env:"SEPAD_OIDC_ISSUER" placeholder:"URL" help:"OpenID provider by which operators sign in, such as https://login.example. Its client has the redirect address …/dashboard/sign-in/oidc/callback/."`
	ClientID     string `name:"client-id" env:"SEPAD_OIDC_CLIENT_ID" placeholder:"ID" help:"How the provider knows this installation."`
	ClientSecret string `env:"SEPAD_OIDC_CLIENT_SECRET" secret:"" placeholder:"SECRET" help:"What the provider knows it by."`
	RoleClaim    string `env:"SEPAD_OIDC_ROLE_CLAIM" default:"sepad_role" placeholder:"CLAIM" help:"Claim that names somebody's role: viewer, support, finance or admin, alone or in a list, also as sepad-finance. A path such as realm_access.roles leads into objects. Without a role nobody is let in."`
	TenantsClaim string `env:"SEPAD_OIDC_TENANTS_CLAIM" default:"sepad_tenants" placeholder:"CLAIM" help:"Claim that names the tenants somebody works for, by id or name. Without it: all."`
	ACR          string `name:"acr" env:"SEPAD_OIDC_ACR" placeholder:"VALUES" help:"How strongly the provider must have made sure of somebody: values of acr by comma, of which its proof must have one. They are asked for. Without any the provider decides alone."`
}

// RetentionSettings are how long data is kept that nobody needs.
type RetentionSettings struct {
	Sessions     string `env:"SEPAD_RETAIN_SESSIONS" default:"90" placeholder:"DAYS" help:"Days to keep sessions that ended without any attempt to pay, with leads of whom nothing else is known."`
	Events       string `env:"SEPAD_RETAIN_EVENTS" default:"90" placeholder:"DAYS" help:"Days to keep events that were delivered, have failed or go nowhere; at least 90."`
	DeliveryLogs string `env:"SEPAD_RETAIN_DELIVERY_LOGS" default:"30" placeholder:"DAYS" help:"Days to keep attempts to deliver events, with the beginning of what receivers answered."`
	Evidence     string `env:"SEPAD_RETAIN_EVIDENCE" default:"1500" placeholder:"DAYS" help:"Days to keep what payers agreed to, counted from the last use of the mandate; at least 425, for a debit can be disputed for 13 months."`
	BankFiles    string `env:"SEPAD_RETAIN_BANK_FILES" default:"3650" placeholder:"DAYS" help:"Days to keep the bytes of files that were exchanged with banks."`
}

// RateSettings are the rates of the limiter's scopes; a test holds them to its
// list.
type RateSettings struct {
	APIKeyCreate         string `env:"SEPAD_RATE_API_KEY_CREATE" default:"50" placeholder:"N" help:"Creating sessions."`
	APIKeyCancel         string `env:"SEPAD_RATE_API_KEY_CANCEL" default:"50" placeholder:"N" help:"Cancelling sessions."`
	APIKeyReconciliation string `env:"SEPAD_RATE_API_KEY_RECONCILIATION" default:"50" placeholder:"N" help:"Reconciliation."`
	APIKeyManage         string `env:"SEPAD_RATE_API_KEY_MANAGE" default:"50" placeholder:"N" help:"Sessions found again, single transactions and subscriptions: look, refund, cancel, change."`
	APIKeyEvents         string `env:"SEPAD_RATE_API_KEY_EVENTS" default:"10" placeholder:"N" help:"The event feed."`
	APIKeyRead           string `env:"SEPAD_RATE_API_KEY_READ" default:"50" placeholder:"N" help:"Reading sessions with an API key."`
	APIKeyPay            string `env:"SEPAD_RATE_API_KEY_PAY" default:"50" placeholder:"N" help:"Paying with an API key."`
	APIKeyVerify         string `env:"SEPAD_RATE_API_KEY_VERIFY" default:"50" placeholder:"N" help:"Verifying with an API key."`
	BrowserRead          string `env:"SEPAD_RATE_BROWSER_READ" default:"1" placeholder:"N" help:"Reading sessions, per IP address."`
	BrowserPay           string `env:"SEPAD_RATE_BROWSER_PAY" default:"1" placeholder:"N" help:"Paying, per IP address."`
	BrowserVerify        string `env:"SEPAD_RATE_BROWSER_VERIFY" default:"1" placeholder:"N" help:"Verifying, per IP address."`
	IBANValidate         string `env:"SEPAD_RATE_IBAN_VALIDATE" default:"50" placeholder:"N" help:"Validating IBANs."`
	Page                 string `env:"SEPAD_RATE_PAGE" default:"20" placeholder:"N" help:"Loading the payment page, per IP address."`
	AuthFailure          string `env:"SEPAD_RATE_AUTH_FAILURE" default:"20" placeholder:"N" help:"Failed authentications, per IP address."`
}

// Setting is one of them.
type Setting struct {
	Name    string // of its variable
	Default string // "" for none
	Form    string
	Help    string
	Secret  bool // it can also be read from the file that Name_FILE names
}

// All lists every setting there is.
func All() []Setting {
	var all []Setting
	for _, field := range fieldsOf(&Settings{}) {
		all = append(all, field.Setting)
	}
	return all
}

// settingField is a setting and the text that was given for it.
type settingField struct {
	Setting
	text *string
}

// fieldsOf finds the settings of a struct.
func fieldsOf(settings any) []settingField {
	var fields []settingField
	value := reflect.ValueOf(settings).Elem()
	for i := range value.NumField() {
		declared := value.Type().Field(i)
		tag := declared.Tag
		switch name := tag.Get("env"); {
		case declared.Type.Kind() == reflect.Struct:
			fields = slices.Concat(fields, fieldsOf(value.Field(i).Addr().Interface()))
		case name != "":
			_, secret := tag.Lookup("secret")
			fields = append(fields, settingField{
				Setting{Name: name, Default: tag.Get("default"), Form: tag.Get("placeholder"), Help: tag.Get("help"), Secret: secret},
				value.Field(i).Addr().Interface().(*string),
			})
		}
	}
	return fields
}
