package store

import (
	"slices"
	"strings"
)

// PersonalTable says of every column of a table what it holds, and which of its
// rows belong to a person. What is exported and what is erased comes from these
// lists alone, and a test holds them to the schema: a new column stands here or
// nothing passes.
type PersonalTable struct {
	Name string
	// Rows say how a person's rows are found: by a column with ids of rows that are
	// known to be the person's. A table without them knows no persons.
	Rows []PersonalLink
	// ByID tells that the rows are called by their ids once they are found: others
	// are found by them, or they are found in more ways than one.
	ByID bool
	// Kept are amounts, dates, states and references, which tell of money and not of
	// whose it was.
	Kept columnNames
	// Cleared are names, addresses and accounts, which are overwritten.
	Cleared columnNames
	// Removed are the same, of columns in which nothing is NULL.
	Removed columnNames
	// Rewritten are overwritten with something of their own: the lead's place in its
	// unique key, and the texts of events, from which what names a person is taken.
	Rewritten columnNames
	// Secret are shown to nobody, not even to whom they are about: keys, tokens,
	// hashes. They tell nothing of a person.
	Secret columnNames
	// Archived are files as they were exchanged with banks. They are records that the
	// law wants unchanged, name many persons, and go when their time is over.
	Archived columnNames
	// Fleeting are gone within a day by themselves.
	Fleeting columnNames
}

// PersonalLink finds rows whose column names a row of another table.
type PersonalLink struct{ Column, Of string }

// columnNames are written with spaces between them.
type columnNames string

// Names are the columns one by one.
func (c columnNames) Names() []string { return strings.Fields(string(c)) }

// All are the columns of a table, each once.
func (t PersonalTable) All() []string {
	return slices.Concat(t.Kept.Names(), t.Cleared.Names(), t.Removed.Names(), t.Rewritten.Names(), t.Secret.Names(), t.Archived.Names(), t.Fleeting.Names())
}

func (t PersonalTable) has(column string) bool { return slices.Contains(t.All(), column) }

// namesPersons tells whether there is anything to export or to erase.
func (t PersonalTable) namesPersons() bool { return len(t.Rows) > 0 }

// personalTable finds a table by its name.
func personalTable(name string) PersonalTable {
	return PersonalTables[slices.IndexFunc(PersonalTables, func(t PersonalTable) bool { return t.Name == name })]
}

// PersonalTables are all tables, in the order in which a person's rows are found:
// whatever others are found by comes before them.
var PersonalTables = []PersonalTable{
	{
		Name: "leads", ByID: true, Rows: []PersonalLink{{"id", "leads"}},
		Kept:      "tenant_id id country created_at updated_at erased_at erase_due_at",
		Cleared:   "email first_name last_name address city postal_code phone",
		Rewritten: "email_key",
	},
	{
		Name: "sessions", ByID: true, Rows: []PersonalLink{{"lead_id", "leads"}},
		Kept: `tenant_id id lead_id status price_minor currency billing_type billing_frequency trial_unit trial_period trial_minor gateway_id
			campaign_id offer_id hosted_page_id webhook_profile_id tenant_reference_id acceptance_mode mandate_reference renews_subscription_id max_attempts attempts_used
			open_transaction_id last_transaction_id holds_lead expires_at created_at updated_at`,
		Cleared: "customer_ip",
		Removed: "options", // where the payer goes afterwards, and what the merchant notes
		Secret:  "token token_sealed",
	},
	{
		Name: "orders", ByID: true, Rows: []PersonalLink{{"session_id", "sessions"}},
		Kept: "tenant_id id session_id order_number status created_at updated_at",
	},
	{
		// Refunds of payments that a file brought in have no order.
		Name: "transactions", ByID: true, Rows: []PersonalLink{{"order_id", "orders"}, {"refund_of", "transactions"}},
		Kept: `tenant_id id session_id order_id subscription_id lead_id gateway_id merchant_transaction_id tenant_reference_id gateway_reference
			processor_id status type amount_minor currency sequence_type source iban_country mandate_reference mandate_at attempt_number in_flight
			lookup_count next_lookup_at settle_due_at verification_reference decline_code decline_message gateway_code processed_at created_at
			updated_at refund_of refunded_minor refunding_minor billing_period held_at due_date reference_inherited`,
		Cleared: "iban_sealed iban_masked bic bank_name holder_name email verification_url gateway_message",
	},
	{
		Name: "subscriptions", ByID: true, Rows: []PersonalLink{{"order_id", "orders"}},
		Kept: `tenant_id id session_id order_id lead_id offer_id campaign_id webhook_profile_id gateway_id status amount_minor currency
			billing_frequency mandate_reference mandate_session_id started_at next_billing_date trial_end_date billing_anchor_date last_billed_at cancelled_at
			successful_count failed_count revenue_minor created_at updated_at period period_tries open_transaction_id sequence_type
			mandate_used_at due_at cancel_reason cancel_code owed_periods paused_at ends_on ends_by rhythm_date rhythm_period
			steered_at`,
		Cleared: "iban_sealed",
	},
	{
		Name: "mandate_acceptances", Rows: []PersonalLink{{"transaction_id", "transactions"}},
		Kept:    "tenant_id transaction_id session_id acceptance_mode language text_version accepted_at",
		Cleared: "text text_hash client_ip user_agent",
	},
	{
		Name: "chargebacks", ByID: true, Rows: []PersonalLink{{"transaction_id", "transactions"}},
		Kept: `tenant_id id gateway_id transaction_id lead_id merchant_transaction_id tenant_reference_id gateway_reference amount_minor currency
			reported_at transaction_at reason_code reason_message report_type arn country source bank_fee_minor created_at updated_at`,
		Cleared: "report_message report_info iban_masked bic email",
	},
	{
		Name: "bank_file_entries", Rows: []PersonalLink{{"transaction_id", "transactions"}},
		Kept: `tenant_id file_id transaction_id gateway_id position block_id due_date sequence_type amount_minor end_to_end_id
			mandate_reference`,
		Cleared: "iban_masked",
	},
	{
		Name: "bank_lines", Rows: []PersonalLink{{"transaction_id", "transactions"}},
		Kept: `tenant_id id statement_id position gateway_id source kind amount_minor charges_minor currency is_credit booking_date reference
			reason result transaction_id`,
		Cleared: "text_sealed note",
	},
	{
		// They are found by what they are about (Person.subjects).
		Name: "events", ByID: true, Rows: []PersonalLink{{"id", "events"}},
		Kept:      "tenant_id id event_key kind webhook_profile_id created_at delivery_status attempt_count failure_count next_attempt_at feed_position",
		Rewritten: "payload",
		Secret:    "token_sealed",
	},
	{
		Name: "webhook_attempts", Rows: []PersonalLink{{"event_id", "events"}},
		Kept:    "tenant_id event_id id number attempted_at duration_us status_code",
		Cleared: "error answer", // both may repeat what the receiver was told
	},
	{
		Name: "mails", Rows: []PersonalLink{{"transaction_id", "transactions"}},
		Kept: `tenant_id id mail_key kind transaction_id due_date creditor_name creditor_identifier status attempt_count failure_count unknown_count
			next_attempt_at queued_at leased_until created_at sent_at`,
		Cleared: "result", // a server's answer may repeat the address
	},
	// From here on nobody is named, or for a short while, or in an archive.
	{
		Name: "staged_transactions",
		Kept: `tenant_id import_id line id merchant_transaction_id gateway_reference processor_id status type amount_minor currency mandate_reference
			mandate_at processed_at`,
		Fleeting: "iban_masked iban_country bic holder_name email",
	},
	{
		Name: "compared_lines",
		Kept: `tenant_id import_id line merchant_transaction_id gateway_reference processor_id status type amount_minor currency processed_at`,
	},
	{Name: "idempotency_keys", Kept: "tenant_id key session_id expires_at", Fleeting: "request_hash"},
	{Name: "bank_file_parts", Kept: "tenant_id id file_id draft number", Archived: "content_sealed"},
	{Name: "bank_statement_parts", Kept: "tenant_id id statement_id number", Archived: "content_sealed"},
	{
		Name: "bank_statements", Kept: "tenant_id id gateway_id name content_hash state problem line_count created_at",
		Archived: "content_sealed",
	},
	{
		Name: "bank_files",
		Kept: `tenant_id id gateway_id kind message_id name format state due_date entry_count sum_minor size_bytes draft temporary_name problem
			created_at updated_at creditor_name creditor_identifier`,
	},
	{
		Name: "sandbox_payments",
		Kept: `tenant_id account_id merchant_transaction_id reference verification_reference outcome state type amount_minor currency
			mandate_reference merchant_name received_at decided_at settles_at chargeback_at notify_at`,
		Secret: "return_url",
	},
	{
		Name: "imports",
		Kept: "tenant_id id gateway_id kind status dry_run new_count updated_count unchanged_count rejected_count created_at updated_at",
	},
	{Name: "event_feeds", Kept: "tenant_id last_position"},
	{Name: "import_rejections", Kept: "tenant_id import_id line reason"},
	{Name: "tenants", Kept: `id number name creditor_name creditor_address creditor_identifier setup_version created_at updated_at version allowed_origins notice_sender notice_reply_to
		notice_send`},
	{Name: "api_keys", Kept: "tenant_id id name prefix created_at last_used_at revoked_at scopes", Secret: "key_hash"},
	{Name: "setup_records", Kept: "tenant_id id kind document active created_at updated_at version", Secret: "secrets"},
	{Name: "events_in_line", Kept: "tenant_id webhook_profile_id event_id"},
	{Name: "webhook_endpoints", Kept: "tenant_id webhook_profile_id lease_owner leased_until failure_count pause_count paused_until"},
	{Name: "rebill_pauses", Kept: "tenant_id gateway_id reason reason_code since paused_until"},
	{Name: "service_clock", Kept: "id offset_us"},
	{Name: "schema_compatibility", Kept: "id oldest_version"},
	{Name: "bank_resumptions", Kept: "tenant_id gateway_id restored_to resumed_at"},
	{Name: "bank_adopted", Kept: "tenant_id gateway_id end_to_end_id message_id position block_id due_date sequence_type amount_minor"},
	{Name: "deployment", Kept: "id environment restored_to recalled_at banks_restored_to tokens_hidden"},
	{Name: "encryption_keys", Kept: "name was_first", Secret: "sealed_check"},
	// Operators are no payers: their names go with them, and stay in the audit trail.
	{
		Name: "operators", Kept: "id email email_key role tenants status totp_step provider_subject provider_seen_at created_at updated_at",
		Secret: "password_hash totp_sealed",
	},
	{Name: "operator_tickets", Kept: "operator_id kind expires_at", Secret: "ticket_hash"},
	{Name: "operator_sessions", Kept: "operator_id is_whole address created_at seen_at ends_at", Secret: "session_hash challenge"},
	{Name: "operator_passkeys", Kept: "id operator_id name created_at last_used_at", Secret: "credential_id credential"},
	{Name: "operator_tokens", Kept: "id operator_id name created_at expires_at last_used_at", Secret: "token_hash"},
	{Name: "audit_entries", Kept: "id at actor operator_id address action object_type object_id tenant_id was became place hash"},
	{Name: "audit_chain", Kept: "id last_place head"},
	{Name: "count_changes", Kept: "tenant_id id day gateway_id campaign_id currency kind reason records minor batch"},
	{Name: "count_days", Kept: "tenant_id day gateway_id campaign_id currency kind reason records minor"},
	{Name: "count_older", Kept: "tenant_id kind counted_above"},
	{Name: "erasure_keys", Kept: "tenant_id id", Secret: "key_sealed"},
	{Name: "erased_names", Kept: "tenant_id key_id erased_at", Secret: "name_hash"},
}
