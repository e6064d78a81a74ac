-- One payment of a session that waits for it. First the claim, which is
-- committed before a gateway may be called; then everything that an approval
-- writes, in one statement. Callers take sessions in turn.
\set n :n + 1
\set number :first + :n * :clients + :client_id
UPDATE sessions SET attempts_used = 1, updated_at = :now
WHERE tenant_id = '018f0000-0000-7000-8000-000a00000001' AND id = ('018f0000-0000-7000-9000-' || lpad(:number, 12, '0'))::uuid
    AND status = 'PENDING' AND open_transaction_id IS NULL AND attempts_used = 0;
WITH session AS (
    UPDATE sessions SET status = 'COMPLETED', holds_lead = FALSE, updated_at = :now
    WHERE tenant_id = '018f0000-0000-7000-8000-000a00000001'
        AND id = ('018f0000-0000-7000-9000-' || lpad(:number, 12, '0'))::uuid AND status = 'PENDING' AND attempts_used = 1
    RETURNING *),
purchase AS (
    INSERT INTO orders (tenant_id, id, session_id, order_number, status, created_at, updated_at)
    SELECT tenant_id, gen_random_uuid(), id, 'ORD-' || :number, 'COMPLETED', :now, :now FROM session
    RETURNING *),
subscription AS (
    INSERT INTO subscriptions (tenant_id, id, session_id, order_id, lead_id, offer_id, campaign_id, webhook_profile_id,
        gateway_id, status, amount_minor, currency, billing_frequency, mandate_reference, iban_sealed, started_at,
        next_billing_date, billing_anchor_date, successful_count, failed_count, revenue_minor, created_at, updated_at)
    SELECT s.tenant_id, gen_random_uuid(), s.id, p.id, s.lead_id, s.offer_id, s.campaign_id, s.webhook_profile_id,
        s.gateway_id, 'ACTIVE', s.price_minor, s.currency, s.billing_frequency, s.mandate_reference, repeat('A', 96), :now,
        '2026-02-01', '2026-01-01', 0, 0, s.price_minor, :now, :now
    FROM session s CROSS JOIN purchase p
    RETURNING *),
transaction AS (
    INSERT INTO transactions (tenant_id, id, session_id, order_id, subscription_id, lead_id, gateway_id,
        merchant_transaction_id, tenant_reference_id, gateway_reference, status, type, amount_minor, currency,
        sequence_type, source, iban_sealed, iban_masked, iban_country, bic, bank_name, holder_name, email,
        mandate_reference, mandate_at, attempt_number, lookup_count, verification_url, verification_reference,
        decline_code, decline_message, gateway_code, gateway_message, processed_at, created_at, updated_at)
    SELECT s.tenant_id, gen_random_uuid(), s.session_id, s.order_id, s.id, s.lead_id, s.gateway_id,
        'TXN-20260101-' || :number, NULL, 'SBX-' || :number, 'approved', 'sdd_sale', s.amount_minor, s.currency, 'FRST',
        'api_submission', s.iban_sealed, '******************2051', 'DE', 'BYLADEM1001', 'Deutsche Kreditbank Berlin',
        'Erika Mustermann', 'erika.' || :number || '@shop.example', s.mandate_reference, :now, 1, 0, '', '', '', '', '',
        '', :now, :now, :now
    FROM subscription s
    RETURNING *),
event AS (
    INSERT INTO events (tenant_id, id, event_key, kind, webhook_profile_id, payload, created_at)
    SELECT t.tenant_id, gen_random_uuid(), 'payment_session.completed:' || t.session_id, 'payment_session.completed',
        s.webhook_profile_id, repeat('A', 300), :now
    FROM transaction t CROSS JOIN subscription s
    RETURNING id)
INSERT INTO river_job (args, kind, max_attempts, metadata, priority, queue, scheduled_at, state)
SELECT jsonb_build_object('event_id', id), 'deliver_event', 25, '{}', 1, 'default', now(), 'available' FROM event;
