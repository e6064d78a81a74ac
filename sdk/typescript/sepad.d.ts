// Types of the client of a sepad service. Amounts are texts with two decimals, days are
// texts as YYYY-MM-DD, instants are texts in ISO 8601.

export interface Options {
  /** How often a call is made at most; 4 unless told otherwise. */
  tries?: number;
  /** How long one try may take, in milliseconds. */
  timeout?: number;
  fetch?: typeof globalThis.fetch;
  /** Pauses between tries; for tests. */
  wait?: (milliseconds: number) => Promise<void>;
}

export interface Keyed {
  /**
   * Names the request, such as your order's number; one is made for this call alone where you give none. After an error nobody knows
   * whether a refund was made: with the same key it is made once, with another it is another refund.
   */
  idempotencyKey?: string;
}

export interface Lead {
  first_name: string;
  last_name: string;
  email: string;
  country: string;
  address?: string;
  city?: string;
  postal_code?: string;
  phone?: string;
}

export interface SessionOptions {
  tenant_reference_id?: string;
  return_url?: string;
  success_redirect_url?: string;
  failure_redirect_url?: string;
  product_name?: string;
  product_description?: string;
  language?: string;
  metadata?: Record<string, string>;
}

export interface SessionRequest extends SessionOptions {
  campaign_id?: string;
  lead: Lead;
  amount?: string;
  currency?: string;
  billing_type?: "ONE_OFF" | "RECURRING" | "TRIAL_RECURRING";
  billing_frequency?: "WEEKLY" | "BIWEEKLY" | "MONTHLY" | "QUARTERLY" | "SEMIANNUALLY" | "YEARLY";
  trial_interval_unit?: "day" | "week" | "month";
  trial_period?: number;
  trial_price?: string;
  gateway_id?: string;
  max_payment_attempts?: number;
  webhook_profile_id?: string;
  hosted_page_id?: string;
  customer_ip?: string;
}

export interface CreatedSession {
  session_token: string;
  status: "PENDING";
  payment_url: string;
}

export type SessionStatus = "PENDING" | "AWAITING_VERIFICATION" | "COMPLETED" | "FAILED" | "EXPIRED";

export interface Session {
  session_token: string;
  status: SessionStatus;
  amount: string;
  currency: string;
  attempts_remaining: number;
  campaign: { name: string; [field: string]: unknown };
  offer: { name: string; price: string; currency: string; billing_type: string; product_name?: string; product_description?: string };
  mandate?: { acceptance_mode: string };
  lead?: { first_name: string; last_name: string; email: string };
}

export interface Order {
  id: string;
  order_number: string;
  status: "PENDING_PAYMENT_SUBMISSION" | "PENDING" | "COMPLETED" | "FAILED" | "REFUNDED" | "CHARGEDBACK";
}

export interface Decline {
  code: "insufficient_funds" | "invalid_iban" | "mandate_rejected" | "account_closed" | "do_not_honor" | "gateway_unavailable" | "unknown";
  message: string;
  gateway_code: string | null;
  gateway_message: string | null;
}

export interface PaymentResult {
  object: "payment_session.result";
  session_token: string;
  status: "completed" | "awaiting_verification" | "declined" | "failed" | null;
  livemode: boolean;
  created_at: string | null;
  processed_at: string | null;
  verification_url: string | null;
  retry_allowed: boolean | null;
  amount: string | null;
  currency: string | null;
  transaction: { id: string; merchant_transaction_id: string; gateway_reference: string | null; tenant_reference_id: string | null; status: string; type: string } | null;
  order: Order | null;
  subscription: { id: string; status: string; billing_frequency: string | null; next_billing_date: string | null } | null;
  lead: { id: string } | null;
  payment_method: { type: "sepa_debit"; iban_last4: string | null; iban_country: string | null; bic: string | null; bank_name: string | null; holder_name: string | null };
  sepa: { mandate_reference: string | null; sequence_type: "FRST" | "RCUR" | null; creditor_identifier: null };
  error_details: Decline | null;
}

export interface SessionResult extends PaymentResult {
  session_id: string;
  session_status: SessionStatus;
  payment_in_flight: boolean;
  tenant_reference_id: string | null;
  metadata: Record<string, string>;
  attempts: Record<string, unknown>[];
}

export interface ListedSession {
  id: string;
  session_token: string;
  payment_url: string;
  status: SessionStatus;
  payment_in_flight: boolean;
  amount: string;
  currency: string;
  tenant_reference_id: string | null;
  metadata: Record<string, string>;
  order: Order | null;
  created_at: string;
  expires_at: string;
}

export interface Transaction {
  id: string;
  adapter_unique_id: string | null;
  merchant_transaction_id: string;
  transaction_id: string | null;
  tenant_reference_id: string | null;
  status: "approved" | "pending" | "declined" | "refunded" | "charged_back";
  type: "sdd_sale" | "sdd_refund" | "other_type";
  amount: string;
  currency: string;
  date_processed: string;
  iban: string | null;
  bic: string | null;
  customer_email_csv: string | null;
  customer_name_csv: string | null;
  mandate_reference_id: string | null;
  mandate_date: string | null;
  source: string;
  order_id: string | null;
  subscription_id: string | null;
  lead_id: string | null;
  payment_gateway_id: string;
  created_at: string;
  updated_at: string;
}

export interface TransactionDetail extends Omit<Transaction, "date_processed"> {
  date_processed: string | null;
  sequence_type: "FRST" | "RCUR" | null;
  attempt_number: number;
  refund_of: string | null;
  refunded_amount: string;
  refundable_amount: string;
  error_details: Decline | null;
  order: Order | null;
}

export interface Chargeback {
  id: string;
  merchant_transaction_id: string;
  tenant_reference_id: string | null;
  amount: string;
  currency: string;
  report_date: string;
  reason_code: string | null;
  reason_message: string | null;
  transaction_id: string | null;
  lead_id: string | null;
  created_at: string;
  updated_at: string;
  [field: string]: unknown;
}

export interface Subscription {
  id: string;
  status: "ACTIVE" | "PAST_DUE" | "CANCELLED";
  billing_amount: string;
  currency: string;
  billing_frequency: string | null;
  start_date: string;
  next_billing_date: string | null;
  last_billing_date: string | null;
  cancelled_at: string | null;
  trial_end_date: string | null;
  billing_anchor_date: string | null;
  successful_billing_count: number;
  failed_billing_count: number;
  total_revenue: string;
  order_id: string;
  lead_id: string;
  offer_id: string | null;
  payment_gateway_id: string;
  created_at: string;
  updated_at: string;
}

export interface SubscriptionDetail extends Subscription {
  mandate_reference_id: string;
  cancel_reason: string | null;
  cancel_code: string | null;
  ends_on: string | null;
  paused_at: string | null;
}

export interface Mandate {
  mandate_reference_id: string;
  subscription_id: string | null;
  acceptances: {
    session_id: string;
    transaction_id: string;
    accepted_at: string;
    language: string;
    text: string;
    text_sha256: string;
    client_ip: string | null;
    user_agent: string | null;
    iban_masked: string;
    iban_holder_name: string;
    [field: string]: unknown;
  }[];
}

/** Days of a list of reconciliation; the second is at most 90 days after the first. */
export interface Days {
  start_date: string | Date;
  end_date?: string | Date;
  date_field?: string;
  status?: string[];
  type?: string[];
  payment_gateway_id?: string;
  page_size?: number;
}

export interface SessionFilter {
  tenant_reference_id?: string;
  email?: string;
  status?: SessionStatus[];
  created_from?: string | Date;
  created_to?: string | Date;
  page_size?: number;
}

/** What an event tells, by its kind. */
export interface EventData {
  "payment_session.completed": SessionEvent;
  "payment_session.expired": SessionEvent;
  "payment_session.failed": SessionEvent;
  "transaction.created": Transaction & Full;
  "transaction.status_changed": Transaction & Full & { previous_status: string };
  "chargeback.created": Chargeback;
  "collection.announced": Record<string, unknown> & Full;
  "subscription.created": SubscriptionEvent;
  "subscription.renewed": SubscriptionEvent;
  "subscription.past_due": SubscriptionEvent;
  "subscription.cancelled": SubscriptionEvent;
  "subscription.changed": SubscriptionEvent;
  "mandate.lapsed": { mandate_reference_id: string; subscription_id: string; last_used_at: string; lapsed_on: string } & Full;
}

/** For profiles with `payload: full`. */
export interface Full {
  ids?: { session: string | null; order: string | null; transaction: string | null; subscription: string | null; lead: string | null; mandate: string | null };
  metadata?: Record<string, string>;
}

export interface SessionEvent extends Full {
  session_token: string;
  status: "COMPLETED" | "EXPIRED" | "FAILED";
  order_number: string | null;
  amount: string;
  currency: string;
  email: string;
  tenant_reference_id: string | null;
}

export type SubscriptionEvent = SubscriptionDetail & Full & { transaction_id: string | null };

/** An event of a known kind; test `type` to know what `data` is. */
export type Event = { [Kind in keyof EventData]: { id: string; type: Kind; created_at: string; data: EventData[Kind] } }[keyof EventData];

export declare class SepadError extends Error {
  readonly status: number;
  /** The sentence, where the answer is one. */
  readonly detail?: string;
  /** A sentence for every field that was refused, by its name ("lead.email"). */
  readonly fields: Record<string, string>;
  /** In seconds. */
  readonly retryAfter?: number;
  readonly requestId?: string;
}

export declare class Sepad {
  constructor(address: string, apiKey: string, options?: Options);

  createSession(request: SessionRequest, options?: Keyed): Promise<CreatedSession>;
  session(token: string): Promise<Session>;
  /** What has become of a session. */
  result(token: string): Promise<SessionResult>;
  /** By token or id. */
  cancelSession(token: string): Promise<void>;
  /** A payment is sent once: where its answer is lost, the service is asked until it knows what became of it. */
  pay(token: string, request: { iban: string; iban_holder_name: string; tenant_reference_id?: string }): Promise<PaymentResult>;
  verify(token: string, verificationId?: string): Promise<PaymentResult>;
  validateIban(iban: string): Promise<{ valid: true; bank_name: string | null; bic: string | null } | { valid: false; error: string }>;
  sessions(filter?: SessionFilter): AsyncGenerator<ListedSession>;

  transaction(id: string): Promise<TransactionDetail>;
  /** Without an amount all that is left is given back. */
  refund(transactionId: string, request?: { amount?: string }, options?: Keyed): Promise<TransactionDetail>;
  subscription(id: string): Promise<SubscriptionDetail>;
  cancelSubscription(id: string, at?: "now" | "period_end"): Promise<SubscriptionDetail>;
  pauseSubscription(id: string): Promise<SubscriptionDetail>;
  resumeSubscription(id: string): Promise<SubscriptionDetail>;
  changeSubscription(id: string, terms: { amount?: string; next_billing_date?: string }): Promise<SubscriptionDetail>;
  /** A session in which the payer gives another account. */
  newMandate(subscriptionId: string, request?: SessionOptions, options?: Keyed): Promise<CreatedSession>;
  mandate(reference: string): Promise<Mandate>;

  transactions(days: Days): AsyncGenerator<Transaction>;
  chargebacks(days: Days): AsyncGenerator<Chargeback>;
  subscriptions(days: Days): AsyncGenerator<Subscription>;

  /**
   * Events in their order, each once. The loop ends when there is nothing more for now; keep `feed.place` with what you
   * have made of an event, and go on from it, today or after a day offline.
   */
  events(place?: string, options?: { pageSize?: number }): Feed;
}

export declare class Feed implements AsyncIterable<Event & { delivered: boolean }> {
  readonly place: string;
  [Symbol.asyncIterator](): AsyncGenerator<Event & { delivered: boolean }>;
}

export declare class DeliveryError extends Error {
  readonly reason: "not_signed" | "bad_signature" | "too_old";
}

export declare class Receiver {
  /** One secret, or two while it is being replaced. The tolerance is in seconds, 300 unless told otherwise. */
  constructor(secrets: string | string[], options?: { tolerance?: number; now?: () => number });
  /** Checks a delivery's signature and age. The body is the text as it came. Drop events whose id you have handled. */
  verify(headers: Headers | Record<string, string | string[] | undefined>, body: string): Promise<Event>;
}

export declare function sign(secret: string, id: string, timestamp: string, body: string): Promise<string>;
