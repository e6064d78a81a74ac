package config

// Database says where the data is, how to read it, and the rules that whoever
// works on it goes by. Every command that needs data takes these settings.
type Database struct {
	Environment    string `name:"environment" env:"SEPAD_ENVIRONMENT" placeholder:"sandbox" help:"What the deployment is for: sandbox or production."`
	DatabaseURL    string `name:"database-url" env:"SEPAD_DATABASE_URL" placeholder:"URL" help:"The database: sqlite:PATH or postgres://…"`
	EncryptionKeys string `name:"encryption-keys" env:"SEPAD_ENCRYPTION_KEYS" placeholder:"NAME:KEY,…" help:"Keys for data at rest, each name:base64 of 32 bytes, separated by commas. The first encrypts, all decrypt."`

	DunningDays       string `name:"dunning-days" env:"SEPAD_DUNNING_DAYS" placeholder:"3,5,7" help:"Days from a refused try of a rebill to the next, unless its campaign says otherwise; after the last one the subscription is cancelled."`
	KeepSubscriptions string `name:"chargeback-keeps-subscription" env:"SEPAD_CHARGEBACK_KEEPS_SUBSCRIPTION" placeholder:"true|false" help:"Whether a subscription goes on after one of its payments was charged back; without it, it is cancelled."`
}

// Settings are all that a server can be told.
type Settings struct {
	Database

	Listen              string `name:"listen" env:"SEPAD_LISTEN" placeholder:"127.0.0.1:8080" help:"Address to answer on."`
	PublicURL           string `name:"public-url" env:"SEPAD_PUBLIC_URL" placeholder:"URL" help:"Where payers and merchants reach the service, such as https://pay.example. Needed in production."`
	DatabaseReplicaURL  string `name:"database-replica-url" env:"SEPAD_DATABASE_REPLICA_URL" placeholder:"URL" help:"PostgreSQL replica for reads that may lag a little: reconciliation."`
	RedisURL            string `name:"redis-url" env:"SEPAD_REDIS_URL" placeholder:"URL" help:"Redis in which several processes count rate limits together."`
	TrustedProxies      string `name:"trusted-proxies" env:"SEPAD_TRUSTED_PROXIES" placeholder:"CIDR,…" help:"Networks of proxies whose X-Forwarded-For is believed."`
	AdminToken          string `name:"admin-token" env:"SEPAD_ADMIN_TOKEN" placeholder:"TOKEN" help:"Bearer token of the admin API. Without it the API is closed."`
	SessionTTL          string `name:"session-ttl" env:"SEPAD_SESSION_TTL" placeholder:"24h" help:"How long a session can be paid, unless its campaign says otherwise."`
	GatewayTimeout      string `name:"gateway-timeout" env:"SEPAD_GATEWAY_TIMEOUT" placeholder:"30s" help:"How long a gateway may take to answer."`
	LookupSchedule      string `name:"lookup-schedule" env:"SEPAD_LOOKUP_SCHEDULE" placeholder:"5s,15s,1m,…" help:"Waits before each question about a payment whose outcome is unknown; the last one repeats."`
	WebhookSchedule     string `name:"webhook-schedule" env:"SEPAD_WEBHOOK_SCHEDULE" placeholder:"5s,30s,2m,…" help:"Waits between the attempts to deliver an event; after the last one the delivery has failed."`
	WebhookAllowPrivate string `name:"webhook-allow-private" env:"SEPAD_WEBHOOK_ALLOW_PRIVATE" placeholder:"true|false" help:"Whether events may be sent to private and loopback addresses; sepad dev allows it."`
	BankDirectory       string `name:"bank-directory" env:"SEPAD_BANK_DIRECTORY" placeholder:"FILE" help:"Bank directory to use in place of the built-in one (see sepad banks)."`
	LogFormat           string `name:"log-format" env:"SEPAD_LOG_FORMAT" placeholder:"text|json" help:"Form of the log; text on a terminal and json elsewhere when not set."`
	OTLPEndpoint        string `name:"otlp-endpoint" env:"SEPAD_OTLP_ENDPOINT" placeholder:"URL" help:"OpenTelemetry collector for traces, such as http://localhost:4318."`

	Rates RateSettings `embed:"" prefix:"rate-" envprefix:"SEPAD_RATE_" group:"Rate limits (requests per second and caller, 0 is unlimited)"`
}

// RateSettings are the rates of the limiter's scopes; a test holds them to its
// list.
type RateSettings struct {
	APIKeyCreate         string `name:"api-key-create" env:"API_KEY_CREATE" placeholder:"50" help:"Creating sessions."`
	APIKeyCancel         string `name:"api-key-cancel" env:"API_KEY_CANCEL" placeholder:"50" help:"Cancelling sessions."`
	APIKeyReconciliation string `name:"api-key-reconciliation" env:"API_KEY_RECONCILIATION" placeholder:"50" help:"Reconciliation."`
	APIKeyRead           string `name:"api-key-read" env:"API_KEY_READ" placeholder:"50" help:"Reading sessions with an API key."`
	APIKeyPay            string `name:"api-key-pay" env:"API_KEY_PAY" placeholder:"50" help:"Paying with an API key."`
	APIKeyVerify         string `name:"api-key-verify" env:"API_KEY_VERIFY" placeholder:"50" help:"Verifying with an API key."`
	BrowserRead          string `name:"browser-read" env:"BROWSER_READ" placeholder:"1" help:"Reading sessions, per IP address."`
	BrowserPay           string `name:"browser-pay" env:"BROWSER_PAY" placeholder:"1" help:"Paying, per IP address."`
	BrowserVerify        string `name:"browser-verify" env:"BROWSER_VERIFY" placeholder:"1" help:"Verifying, per IP address."`
	IBANValidate         string `name:"iban-validate" env:"IBAN_VALIDATE" placeholder:"50" help:"Validating IBANs."`
	Page                 string `name:"page" env:"PAGE" placeholder:"20" help:"Loading the payment page, per IP address."`
	AuthFailure          string `name:"auth-failure" env:"AUTH_FAILURE" placeholder:"20" help:"Failed authentications, per IP address."`
}
