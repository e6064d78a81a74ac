-- Copies the one payment that waits for a bank's file, with all that it hangs on,
-- until there are %[1]d more. They keep its mandate, to which the sealed account
-- number is bound; by name it becomes one of them.
UPDATE transactions SET merchant_transaction_id = 'BENCH-0';
CREATE FUNCTION copy_id(n bigint) RETURNS uuid IMMUTABLE LANGUAGE sql
    RETURN ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid;
INSERT INTO leads SELECT r.* FROM leads AS p, generate_series(1::bigint, %[1]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'email_key', 'e' || n)) AS r;
INSERT INTO sessions SELECT r.* FROM sessions AS p, generate_series(1::bigint, %[1]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'lead_id', copy_id(n),
        'last_transaction_id', copy_id(n), 'token', 't' || n)) AS r;
INSERT INTO orders SELECT r.* FROM orders AS p, generate_series(1::bigint, %[1]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'session_id', copy_id(n), 'order_number', 'o' || n)) AS r;
INSERT INTO transactions SELECT r.* FROM transactions AS p, generate_series(1::bigint, %[1]d) AS n,
    jsonb_populate_record(p, jsonb_build_object('id', copy_id(n), 'session_id', copy_id(n), 'order_id', copy_id(n),
        'lead_id', copy_id(n), 'merchant_transaction_id', 'BENCH-' || n)) AS r;
DROP FUNCTION copy_id;
ANALYZE;
