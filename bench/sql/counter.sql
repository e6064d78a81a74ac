-- Copies the one subscription that was paid for, with all that it hangs on, until there
-- are %[1]d payments more, %[3]d of each purchase. What people search for is as spread as
-- with a merchant: a hundred surnames, as many last digits, twenty prices, and addresses,
-- references and ids of their own. One payment in ten is declined, one in a hundred came
-- back. Nothing is due before the year 2100, so that nobody bills what is read.
CREATE FUNCTION copy_id(n bigint) RETURNS uuid IMMUTABLE LANGUAGE sql
    RETURN ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid;
CREATE FUNCTION surname(n bigint) RETURNS text IMMUTABLE LANGUAGE sql
    RETURN 'Muster' || (ARRAY['mann', 'frau', 'berg', 'feld', 'hof', 'bach', 'wald', 'stein', 'burg', 'tal'])[1 + n %% 10] || chr(97 + ((n / 10) %% 10)::int);
CREATE FUNCTION copied_at(n bigint) RETURNS bigint IMMUTABLE LANGUAGE sql
    RETURN %[2]d - (%[1]d - n) * (80 * 86400000000 / %[1]d);

INSERT INTO leads SELECT r.* FROM leads AS p, generate_series(1::bigint, %[1]d / %[3]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'email', 'payer.' || n || '@shop.example', 'email_key', 'payer.' || n || '@shop.example',
        'last_name', surname(n), 'created_at', copied_at(n * %[3]d))) AS r;
INSERT INTO sessions SELECT r.* FROM sessions AS p, generate_series(1::bigint, %[1]d / %[3]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'lead_id', copy_id(n), 'last_transaction_id', copy_id(n * %[3]d), 'token', 't' || n,
        'mandate_reference', 'MND-' || lpad(n::text, 12, '0'), 'created_at', copied_at(n * %[3]d))) AS r;
INSERT INTO orders SELECT r.* FROM orders AS p, generate_series(1::bigint, %[1]d / %[3]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'session_id', copy_id(n), 'order_number', 'ORD-' || lpad(n::text, 8, '0'))) AS r;
INSERT INTO subscriptions SELECT r.* FROM subscriptions AS p, generate_series(1::bigint, %[1]d / %[3]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'session_id', copy_id(n), 'order_id', copy_id(n), 'lead_id', copy_id(n),
        'mandate_reference', 'MND-' || lpad(n::text, 12, '0'), 'amount_minor', 999 + 500 * (n %% 20), 'created_at', copied_at(n * %[3]d),
        'next_billing_date', '2100-01-01', 'due_at', 4102444800000000)) AS r;
INSERT INTO transactions SELECT r.* FROM transactions AS p, generate_series(1::bigint, %[1]d) AS m, LATERAL (SELECT (m + %[3]d - 1) / %[3]d AS n) AS purchase,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(m), 'session_id', CASE WHEN m %% %[3]d = 0 THEN copy_id(n) END, 'order_id', copy_id(n),
        'lead_id', copy_id(n), 'subscription_id', copy_id(n), 'merchant_transaction_id', 'TXN-20260101-' || lpad(m::text, 8, '0'),
        'tenant_reference_id', NULL, 'gateway_reference', 'SBX-' || m, 'mandate_reference', 'MND-' || lpad(n::text, 12, '0'),
        'status', CASE WHEN m %% 10 = 0 THEN 'declined' ELSE 'approved' END, 'type', CASE WHEN m %% %[3]d = 0 THEN 'sdd_sale' ELSE 'sdd_rebill' END,
        'amount_minor', 999 + 500 * (n %% 20), 'iban_masked', '******************' || lpad((n %% 100 + 4000)::text, 4, '0'), 'holder_name', 'Erika ' || surname(n),
        'email', 'payer.' || n || '@shop.example', 'processed_at', copied_at(m), 'created_at', copied_at(m), 'updated_at', copied_at(m))) AS r;
INSERT INTO events SELECT r.* FROM events AS p, generate_series(1::bigint, %[1]d / %[3]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'event_key', 'transaction.created:' || copy_id(n * %[3]d), 'feed_position', n,
        'created_at', copied_at(n * %[3]d))) AS r WHERE p.kind = 'transaction.created';
INSERT INTO chargebacks (tenant_id, id, gateway_id, transaction_id, lead_id, merchant_transaction_id, gateway_reference, amount_minor, currency, reported_at,
    reason_code, reason_message, report_type, report_message, report_info, arn, iban_masked, bic, email, country, source, created_at, updated_at)
SELECT t.tenant_id, t.id, t.gateway_id, t.id, t.lead_id, t.merchant_transaction_id, '', t.amount_minor, t.currency, t.processed_at,
    'AM04', 'Insufficient funds', '', '', '', '', t.iban_masked, t.bic, t.email, 'DE', 'import', t.created_at, t.updated_at
FROM generate_series(1::bigint, %[1]d / 100) AS n JOIN transactions AS t ON t.id = copy_id(n * 100 - 1);
DROP FUNCTION copy_id, surname, copied_at;
