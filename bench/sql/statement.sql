-- What a person with psql would do with the lines of a statement: into a bare
-- table, then one statement that settles the payments and their orders, tells of
-- each and keeps each line.
\set ON_ERROR_STOP on
TRUNCATE bench_lines;
\copy bench_lines FROM 'FILE' WITH (FORMAT csv)
WITH settled AS (
    UPDATE transactions t SET status = 'approved', settle_due_at = NULL, updated_at = 2
    FROM bench_lines b WHERE t.tenant_id = 'TENANT' AND t.merchant_transaction_id = b.reference AND t.status = 'pending' AND t.amount_minor = b.amount
    RETURNING t.tenant_id, t.id, t.gateway_id, t.order_id, t.merchant_transaction_id, b.number, b.amount, b.words
), ordered AS (
    UPDATE orders o SET status = 'COMPLETED', updated_at = 2 FROM settled s WHERE o.tenant_id = s.tenant_id AND o.id = s.order_id
), told AS (
    INSERT INTO events (tenant_id, id, event_key, kind, payload, created_at)
    SELECT tenant_id, gen_random_uuid(), 'transaction.status_changed:' || id || ':pending>approved', 'transaction.status_changed',
        json_build_object('event', 'transaction.status_changed', 'transaction', json_build_object('id', id, 'merchant_transaction_id',
        merchant_transaction_id, 'amount', amount, 'currency', 'EUR', 'status', 'approved', 'previous', 'pending'), 'padding', repeat('x', 300))::text, 2
    FROM settled
)
INSERT INTO bank_lines (tenant_id, id, statement_id, position, gateway_id, source, kind, amount_minor, charges_minor, currency, is_credit,
    booking_date, reference, reason, text_sealed, result, note, transaction_id)
SELECT tenant_id, gen_random_uuid(), '00000000-0000-7000-8000-000000000001', number, gateway_id, 'camt.053', 'collected', amount, 0, 'EUR', 1,
    '2026-11-20', merchant_transaction_id, '', words, 'settled', '', id
FROM settled;
