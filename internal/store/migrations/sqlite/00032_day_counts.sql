-- +goose Up
-- What each day brought, counted with every change of a payment and a chargeback, whoever
-- makes it. A change adds rows to count_changes and touches none, so that no payment waits
-- for another; a job sums them up in count_days. What was there before is counted by a job
-- too, downwards from the ids in count_older: above them triggers count. Days are those
-- since 1970, in UTC; a campaign that is none is all zeros.
CREATE TABLE count_changes (
    tenant_id   TEXT    NOT NULL,
    id          TEXT    NOT NULL DEFAULT (lower(hex(randomblob(16)))),
    day         INTEGER NOT NULL,
    gateway_id  TEXT    NOT NULL,
    campaign_id TEXT    NOT NULL,
    currency    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    records     INTEGER NOT NULL,
    minor       INTEGER NOT NULL,
    batch       TEXT,
    CONSTRAINT count_changes_id_key PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX count_changes_tenant_idx ON count_changes (tenant_id, day);
CREATE INDEX count_changes_batch_idx ON count_changes (batch) WHERE batch IS NOT NULL;
CREATE TABLE count_days (
    tenant_id   TEXT    NOT NULL,
    day         INTEGER NOT NULL,
    gateway_id  TEXT    NOT NULL,
    campaign_id TEXT    NOT NULL,
    currency    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    records     INTEGER NOT NULL,
    minor       INTEGER NOT NULL,
    CONSTRAINT count_days_day_gateway_id_campaign_id_currency_kind_reason_key PRIMARY KEY (tenant_id, day, gateway_id, campaign_id, currency, kind, reason)
) STRICT;
CREATE TABLE count_older (
    tenant_id    TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    counted_above TEXT    NOT NULL,
    CONSTRAINT count_older_kind_key PRIMARY KEY (tenant_id, kind)
) STRICT;
-- +goose StatementBegin
CREATE TRIGGER count_new_transaction AFTER INSERT ON transactions
    WHEN NEW.processed_at IS NOT NULL
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, NEW.processed_at / 86400000000, NEW.gateway_id, COALESCE((SELECT s.campaign_id FROM orders o JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
            WHERE o.tenant_id = NEW.tenant_id AND o.id = NEW.order_id), '00000000-0000-0000-0000-000000000000'),
        NEW.currency, CASE WHEN NEW.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN NEW.type = 'sdd_refund' THEN CASE WHEN NEW.status = 'approved' THEN 'refunded' END
            WHEN NEW.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE NEW.status END,
        CASE WHEN NEW.status = 'declined' THEN NEW.decline_code ELSE '' END, 1, 1 * NEW.amount_minor
    WHERE NEW.processed_at IS NOT NULL AND NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'transactions'), '00000000-0000-0000-0000-000000000000')
        AND CASE WHEN NEW.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN NEW.type = 'sdd_refund' THEN CASE WHEN NEW.status = 'approved' THEN 'refunded' END
            WHEN NEW.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE NEW.status END IS NOT NULL;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER count_changed_transaction AFTER UPDATE ON transactions
    WHEN OLD.processed_at IS NOT NEW.processed_at OR OLD.gateway_id IS NOT NEW.gateway_id OR OLD.currency IS NOT NEW.currency
        OR OLD.status IS NOT NEW.status OR OLD.decline_code IS NOT NEW.decline_code OR OLD.amount_minor IS NOT NEW.amount_minor
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT OLD.tenant_id, OLD.processed_at / 86400000000, OLD.gateway_id, COALESCE((SELECT s.campaign_id FROM orders o JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
            WHERE o.tenant_id = NEW.tenant_id AND o.id = NEW.order_id), '00000000-0000-0000-0000-000000000000'),
        OLD.currency, CASE WHEN OLD.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN OLD.type = 'sdd_refund' THEN CASE WHEN OLD.status = 'approved' THEN 'refunded' END
            WHEN OLD.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE OLD.status END,
        CASE WHEN OLD.status = 'declined' THEN OLD.decline_code ELSE '' END, -1, -1 * OLD.amount_minor
    WHERE OLD.processed_at IS NOT NULL AND NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'transactions'), '00000000-0000-0000-0000-000000000000')
        AND CASE WHEN OLD.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN OLD.type = 'sdd_refund' THEN CASE WHEN OLD.status = 'approved' THEN 'refunded' END
            WHEN OLD.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE OLD.status END IS NOT NULL;
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, NEW.processed_at / 86400000000, NEW.gateway_id, COALESCE((SELECT s.campaign_id FROM orders o JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
            WHERE o.tenant_id = NEW.tenant_id AND o.id = NEW.order_id), '00000000-0000-0000-0000-000000000000'),
        NEW.currency, CASE WHEN NEW.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN NEW.type = 'sdd_refund' THEN CASE WHEN NEW.status = 'approved' THEN 'refunded' END
            WHEN NEW.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE NEW.status END,
        CASE WHEN NEW.status = 'declined' THEN NEW.decline_code ELSE '' END, 1, 1 * NEW.amount_minor
    WHERE NEW.processed_at IS NOT NULL AND NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'transactions'), '00000000-0000-0000-0000-000000000000')
        AND CASE WHEN NEW.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN NEW.type = 'sdd_refund' THEN CASE WHEN NEW.status = 'approved' THEN 'refunded' END
            WHEN NEW.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE NEW.status END IS NOT NULL;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER count_new_chargeback AFTER INSERT ON chargebacks
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, NEW.reported_at / 86400000000, NEW.gateway_id, COALESCE((SELECT s.campaign_id FROM transactions p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
            JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.transaction_id), '00000000-0000-0000-0000-000000000000'),
        NEW.currency, 'charged_back', NEW.reason_code, 1, 1 * NEW.amount_minor
    WHERE NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'chargebacks'), '00000000-0000-0000-0000-000000000000');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER count_changed_chargeback AFTER UPDATE ON chargebacks
    WHEN OLD.reported_at IS NOT NEW.reported_at OR OLD.gateway_id IS NOT NEW.gateway_id OR OLD.currency IS NOT NEW.currency
        OR OLD.reason_code IS NOT NEW.reason_code OR OLD.amount_minor IS NOT NEW.amount_minor OR OLD.transaction_id IS NOT NEW.transaction_id
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT OLD.tenant_id, OLD.reported_at / 86400000000, OLD.gateway_id, COALESCE((SELECT s.campaign_id FROM transactions p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
            JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE p.tenant_id = OLD.tenant_id AND p.id = OLD.transaction_id), '00000000-0000-0000-0000-000000000000'),
        OLD.currency, 'charged_back', OLD.reason_code, -1, -1 * OLD.amount_minor
    WHERE NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'chargebacks'), '00000000-0000-0000-0000-000000000000');
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, NEW.reported_at / 86400000000, NEW.gateway_id, COALESCE((SELECT s.campaign_id FROM transactions p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
            JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.transaction_id), '00000000-0000-0000-0000-000000000000'),
        NEW.currency, 'charged_back', NEW.reason_code, 1, 1 * NEW.amount_minor
    WHERE NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'chargebacks'), '00000000-0000-0000-0000-000000000000');
END;
-- +goose StatementEnd

INSERT INTO count_older (tenant_id, kind, counted_above)
SELECT n.id, 'transactions', t.id FROM tenants n JOIN transactions t ON t.tenant_id = n.id
    AND t.id = (SELECT x.id FROM transactions x WHERE x.tenant_id = n.id ORDER BY x.id DESC LIMIT 1);
INSERT INTO count_older (tenant_id, kind, counted_above)
SELECT n.id, 'chargebacks', c.id FROM tenants n JOIN chargebacks c ON c.tenant_id = n.id
    AND c.id = (SELECT x.id FROM chargebacks x WHERE x.tenant_id = n.id ORDER BY x.id DESC LIMIT 1);

-- +goose Down
DROP TRIGGER count_changed_chargeback;
DROP TRIGGER count_new_chargeback;
DROP TRIGGER count_changed_transaction;
DROP TRIGGER count_new_transaction;
DROP TABLE count_older;
DROP TABLE count_days;
DROP TABLE count_changes;
