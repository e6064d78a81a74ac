-- One session for somebody new, as sepad writes it, in one statement. Values
-- that are unique are random, so that no round can meet the rows of another.
\set person random(1, 1000000000000000)
\set tenant random(1, 8)
WITH lead AS (
    INSERT INTO leads (tenant_id, id, email, email_key, first_name, last_name, country, address, city, postal_code,
        phone, created_at, updated_at)
    VALUES (('018f0000-0000-7000-8000-000a0000000' || :tenant)::uuid, gen_random_uuid(),
        'erika.' || :person || '@shop.example', 'erika.' || :person || '@shop.example', 'Erika', 'Mustermann', 'DE',
        'Musterstr. 1', 'Berlin', '10115', '+49301234567', :now, :now)
    ON CONFLICT (tenant_id, email_key) DO UPDATE SET email = excluded.email, first_name = excluded.first_name,
        last_name = excluded.last_name, country = excluded.country, address = excluded.address,
        city = excluded.city, postal_code = excluded.postal_code, phone = excluded.phone,
        updated_at = excluded.updated_at
    RETURNING tenant_id, id)
INSERT INTO sessions (tenant_id, id, token, lead_id, status, price_minor, currency, billing_type, billing_frequency,
    trial_unit, trial_period, trial_minor, gateway_id, campaign_id, offer_id, hosted_page_id, webhook_profile_id,
    acceptance_mode, mandate_reference, customer_ip, max_attempts, attempts_used, holds_lead, expires_at, created_at,
    updated_at)
SELECT tenant_id, gen_random_uuid(), 'ps_' || gen_random_uuid() || 'AAAAAAAA', id, 'PENDING', 2999, 'EUR', 'RECURRING',
    'MONTHLY', '', 0, NULL, ('018f0000-0000-7000-8000-000b0000000' || :tenant)::uuid,
    ('018f0000-0000-7000-8000-000f0000000' || :tenant)::uuid, ('018f0000-0000-7000-8000-000e0000000' || :tenant)::uuid,
    NULL, NULL, 'checkbox', 'MND-' || :person, '10.1.2.3', 3, 0,
    TRUE, :now + 86400000000, :now, :now
FROM lead;
