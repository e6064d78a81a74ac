-- A tenant's transactions of 80 days, $1 of them, the last on day $2. One in ten
-- is declined, one in a hundred another kind of transaction, and one in fifty
-- came through a second gateway. What they refer to is not there.
INSERT INTO transactions (tenant_id, id, session_id, order_id, subscription_id, lead_id, gateway_id,
    merchant_transaction_id, tenant_reference_id, gateway_reference, status, type, amount_minor, currency,
    sequence_type, source, iban_sealed, iban_masked, iban_country, bic, bank_name, holder_name, email,
    mandate_reference, mandate_at, attempt_number, lookup_count, verification_url, verification_reference,
    decline_code, decline_message, gateway_code, gateway_message, processed_at, created_at, updated_at)
SELECT '018f0000-0000-7000-8000-000a00000001', id, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
    gen_random_uuid(), ('018f0000-0000-7000-8000-000b0000000' || CASE WHEN n % 50 = 0 THEN 2 ELSE 1 END)::uuid,
    'TXN-20260101-' || lpad(n::text, 8, '0'), 'order-' || n, 'SBX-' || n,
    CASE WHEN n % 10 = 0 THEN 'declined' ELSE 'approved' END,
    CASE WHEN n % 100 = 1 THEN 'sdd_refund' WHEN n % 3 = 0 THEN 'sdd_rebill' ELSE 'sdd_sale' END,
    2999, 'EUR', 'FRST', 'api_submission', repeat('A', 96), '******************2051', 'DE', 'BYLADEM1001',
    'Deutsche Kreditbank Berlin', 'Erika Mustermann', 'erika.' || n || '@shop.example',
    'MND-' || lpad(n::text, 12, '0'), at, 1, 0, '', '', '', '', '', '', at, at, at
FROM (SELECT n, gen_random_uuid() AS id, $2::bigint - ($1 - n) * (80 * 86400000000 / $1) AS at
    FROM generate_series(1::bigint, $1::bigint) AS n) AS numbers;
