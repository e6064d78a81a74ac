-- Sessions that wait to be paid, numbered from $1 to $2, each for a lead of its own.
WITH numbers AS (
    SELECT n, ('018f0000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid AS id FROM generate_series($1::bigint, $2::bigint) AS n),
lead AS (
    INSERT INTO leads (tenant_id, id, email, email_key, first_name, last_name, country, address, city, postal_code,
        phone, created_at, updated_at)
    SELECT '018f0000-0000-7000-8000-000a00000001', id, 'erika.' || n || '@shop.example', 'erika.' || n || '@shop.example',
        'Erika', 'Mustermann', 'DE', 'Musterstr. 1', 'Berlin', '10115', '+49301234567', $3, $3
    FROM numbers
    RETURNING tenant_id, id)
INSERT INTO sessions (tenant_id, id, token, lead_id, status, price_minor, currency, billing_type, billing_frequency,
    trial_unit, trial_period, trial_minor, gateway_id, campaign_id, offer_id, hosted_page_id, webhook_profile_id,
    acceptance_mode, mandate_reference, customer_ip, max_attempts, attempts_used, holds_lead, expires_at, created_at,
    updated_at)
SELECT tenant_id, id, 'ps_' || id || 'AAAAAAAA', id, 'PENDING', 2999, 'EUR', 'RECURRING', 'MONTHLY', '', 0, NULL,
    '018f0000-0000-7000-8000-000b00000001', '018f0000-0000-7000-8000-000f00000001', '018f0000-0000-7000-8000-000e00000001',
    NULL, NULL, 'checkbox', 'MND-' || right(id::text, 12), '10.1.2.3', 3, 0, TRUE,
    $3 + 86400000000, $3, $3
FROM lead;
