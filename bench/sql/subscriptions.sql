-- Copies the one subscription that was paid for, with all that it hangs on, until
-- there are %[1]d more. One in %[2]d is due on %[3]s, a day that begins at %[4]d,
-- and the others on one of the 29 days after it.
CREATE FUNCTION copy_id(n bigint) RETURNS uuid IMMUTABLE LANGUAGE sql
    RETURN ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid;
CREATE FUNCTION wait_days(n bigint) RETURNS bigint IMMUTABLE LANGUAGE sql
    RETURN CASE WHEN n %% %[2]d = 0 THEN 0 ELSE 1 + n %% 29 END;

INSERT INTO leads SELECT r.* FROM leads AS p, generate_series(1::bigint, %[1]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'email_key', 'e' || n)) AS r;
INSERT INTO sessions SELECT r.* FROM sessions AS p, generate_series(1::bigint, %[1]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'lead_id', copy_id(n),
        'last_transaction_id', copy_id(n), 'token', 't' || n)) AS r;
INSERT INTO orders SELECT r.* FROM orders AS p, generate_series(1::bigint, %[1]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'session_id', copy_id(n), 'order_number', 'o' || n)) AS r;
INSERT INTO transactions SELECT r.* FROM transactions AS p, generate_series(1::bigint, %[1]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'session_id', copy_id(n), 'order_id', copy_id(n),
        'lead_id', copy_id(n), 'subscription_id', copy_id(n), 'merchant_transaction_id', 'm' || n)) AS r;
INSERT INTO subscriptions SELECT r.* FROM subscriptions AS p, generate_series(1::bigint, %[1]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'session_id', copy_id(n), 'order_id', copy_id(n),
        'lead_id', copy_id(n), 'next_billing_date', to_char(DATE '%[3]s' + wait_days(n)::int, 'YYYY-MM-DD'),
        'due_at', %[4]d + wait_days(n) * 86400000000)) AS r;
DROP FUNCTION copy_id, wait_days;
