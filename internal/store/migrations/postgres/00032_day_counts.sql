-- +goose Up
-- What each day brought, counted with every change of a payment and a chargeback, whoever
-- makes it. A change adds rows to count_changes and touches none, so that no payment waits
-- for another; a job sums them up in count_days. What was there before is counted by a job
-- too, downwards from the ids in count_older: above them triggers count. Whoever changes
-- something below holds the row of count_older, so that the job counts after it or before
-- it, and never past it. Days are those since 1970, in UTC; a campaign that is none is all zeros.
CREATE TABLE count_changes (
    tenant_id   uuid NOT NULL,
    id          uuid NOT NULL DEFAULT gen_random_uuid(),
    day         bigint NOT NULL,
    gateway_id  uuid NOT NULL,
    campaign_id uuid NOT NULL,
    currency    text NOT NULL,
    kind        text NOT NULL,
    reason      text NOT NULL,
    records     bigint NOT NULL,
    minor       bigint NOT NULL,
    batch       uuid,
    CONSTRAINT count_changes_id_key PRIMARY KEY (tenant_id, id)
);
CREATE INDEX count_changes_tenant_idx ON count_changes (tenant_id, day);
CREATE INDEX count_changes_batch_idx ON count_changes (batch) WHERE batch IS NOT NULL;
CREATE TABLE count_days (
    tenant_id   uuid NOT NULL,
    day         bigint NOT NULL,
    gateway_id  uuid NOT NULL,
    campaign_id uuid NOT NULL,
    currency    text NOT NULL,
    kind        text NOT NULL,
    reason      text NOT NULL,
    records     bigint NOT NULL,
    minor       bigint NOT NULL,
    CONSTRAINT count_days_day_gateway_id_campaign_id_currency_kind_reason_key PRIMARY KEY (tenant_id, day, gateway_id, campaign_id, currency, kind, reason)
);
CREATE TABLE count_older (
    tenant_id    uuid NOT NULL,
    kind         text NOT NULL,
    counted_above uuid NOT NULL,
    CONSTRAINT count_older_kind_key PRIMARY KEY (tenant_id, kind)
);

-- +goose StatementBegin
CREATE FUNCTION count_new_transactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT t.tenant_id, t.processed_at / 86400000000, t.gateway_id, COALESCE((SELECT s.campaign_id FROM orders o JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
            WHERE o.tenant_id = t.tenant_id AND o.id = t.order_id), '00000000-0000-0000-0000-000000000000'::uuid),
        t.currency, CASE WHEN t.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN t.type = 'sdd_refund' THEN CASE WHEN t.status = 'approved' THEN 'refunded' END
            WHEN t.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE t.status END,
        CASE WHEN t.status = 'declined' THEN t.decline_code ELSE '' END, COUNT(*), CAST(SUM(t.amount_minor) AS bigint)
    FROM added t
    WHERE t.processed_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM count_older c WHERE c.tenant_id = t.tenant_id AND c.kind = 'transactions' AND c.counted_above >= t.id FOR SHARE)
        AND CASE WHEN t.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN t.type = 'sdd_refund' THEN CASE WHEN t.status = 'approved' THEN 'refunded' END
            WHEN t.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE t.status END IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7;
    RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION count_changed_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, r.processed_at / 86400000000, r.gateway_id, COALESCE((SELECT s.campaign_id FROM orders o JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
            WHERE o.tenant_id = NEW.tenant_id AND o.id = NEW.order_id), '00000000-0000-0000-0000-000000000000'::uuid),
        r.currency, CASE WHEN r.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN r.type = 'sdd_refund' THEN CASE WHEN r.status = 'approved' THEN 'refunded' END
            WHEN r.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE r.status END,
        CASE WHEN r.status = 'declined' THEN r.decline_code ELSE '' END, SUM(r.n), CAST(SUM(r.n * r.amount_minor) AS bigint)
    FROM (VALUES (-1, OLD.processed_at, OLD.gateway_id, OLD.currency, OLD.type, OLD.status, OLD.decline_code, OLD.amount_minor),
        (1, NEW.processed_at, NEW.gateway_id, NEW.currency, NEW.type, NEW.status, NEW.decline_code, NEW.amount_minor))
        AS r(n, processed_at, gateway_id, currency, type, status, decline_code, amount_minor)
    WHERE r.processed_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'transactions' AND c.counted_above >= NEW.id FOR SHARE)
        AND CASE WHEN r.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN r.type = 'sdd_refund' THEN CASE WHEN r.status = 'approved' THEN 'refunded' END
            WHEN r.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE r.status END IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING SUM(r.n) <> 0 OR SUM(r.n * r.amount_minor) <> 0;
    RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION count_new_chargebacks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT t.tenant_id, t.reported_at / 86400000000, t.gateway_id, COALESCE((SELECT s.campaign_id FROM transactions p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
            JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE p.tenant_id = t.tenant_id AND p.id = t.transaction_id), '00000000-0000-0000-0000-000000000000'::uuid),
        t.currency, 'charged_back', t.reason_code, COUNT(*), CAST(SUM(t.amount_minor) AS bigint)
    FROM added t WHERE NOT EXISTS (SELECT 1 FROM count_older c WHERE c.tenant_id = t.tenant_id AND c.kind = 'chargebacks' AND c.counted_above >= t.id FOR SHARE)
    GROUP BY 1, 2, 3, 4, 5, 6, 7;
    RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION count_changed_chargeback() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, r.reported_at / 86400000000, r.gateway_id, r.campaign_id, r.currency, 'charged_back', r.reason_code, SUM(r.n), CAST(SUM(r.n * r.amount_minor) AS bigint)
    FROM (SELECT -1 AS n, OLD.reported_at, OLD.gateway_id, OLD.currency, OLD.reason_code, OLD.amount_minor,
            COALESCE((SELECT s.campaign_id FROM transactions p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
            JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE p.tenant_id = OLD.tenant_id AND p.id = OLD.transaction_id), '00000000-0000-0000-0000-000000000000'::uuid) AS campaign_id
        UNION ALL SELECT 1, NEW.reported_at, NEW.gateway_id, NEW.currency, NEW.reason_code, NEW.amount_minor,
            COALESCE((SELECT s.campaign_id FROM transactions p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
            JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.transaction_id), '00000000-0000-0000-0000-000000000000'::uuid)) AS r
    WHERE NOT EXISTS (SELECT 1 FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'chargebacks' AND c.counted_above >= NEW.id FOR SHARE)
    GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING SUM(r.n) <> 0 OR SUM(r.n * r.amount_minor) <> 0;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER count_new AFTER INSERT ON transactions REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_transactions();
CREATE TRIGGER count_changed AFTER UPDATE ON transactions FOR EACH ROW
    WHEN ((OLD.processed_at, OLD.gateway_id, OLD.currency, OLD.status, OLD.decline_code, OLD.amount_minor)
        IS DISTINCT FROM (NEW.processed_at, NEW.gateway_id, NEW.currency, NEW.status, NEW.decline_code, NEW.amount_minor))
    EXECUTE FUNCTION count_changed_transaction();
CREATE TRIGGER count_new AFTER INSERT ON chargebacks REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_chargebacks();
CREATE TRIGGER count_changed AFTER UPDATE ON chargebacks FOR EACH ROW
    WHEN ((OLD.reported_at, OLD.gateway_id, OLD.currency, OLD.reason_code, OLD.amount_minor, OLD.transaction_id)
        IS DISTINCT FROM (NEW.reported_at, NEW.gateway_id, NEW.currency, NEW.reason_code, NEW.amount_minor, NEW.transaction_id))
    EXECUTE FUNCTION count_changed_chargeback();

INSERT INTO count_older (tenant_id, kind, counted_above)
SELECT n.id, 'transactions', t.id FROM tenants n JOIN transactions t ON t.tenant_id = n.id
    AND t.id = (SELECT x.id FROM transactions x WHERE x.tenant_id = n.id ORDER BY x.id DESC LIMIT 1);
INSERT INTO count_older (tenant_id, kind, counted_above)
SELECT n.id, 'chargebacks', c.id FROM tenants n JOIN chargebacks c ON c.tenant_id = n.id
    AND c.id = (SELECT x.id FROM chargebacks x WHERE x.tenant_id = n.id ORDER BY x.id DESC LIMIT 1);

-- +goose Down
DROP TRIGGER count_changed ON chargebacks;
DROP TRIGGER count_new ON chargebacks;
DROP TRIGGER count_changed ON transactions;
DROP TRIGGER count_new ON transactions;
DROP FUNCTION count_changed_chargeback();
DROP FUNCTION count_new_chargebacks();
DROP FUNCTION count_changed_transaction();
DROP FUNCTION count_new_transactions();
DROP TABLE count_older;
DROP TABLE count_days;
DROP TABLE count_changes;
