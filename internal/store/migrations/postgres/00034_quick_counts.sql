-- +goose Up
-- Counting cost a payment as much as its session. PostgreSQL makes the plan of a statement
-- with rows of a trigger anew each time: what has nothing to count leaves before it, and a
-- change is counted by statements whose plans are kept.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_new_transactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM added WHERE processed_at IS NOT NULL) THEN
        RETURN NULL;
    END IF;
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
CREATE OR REPLACE FUNCTION count_changed_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    old_kind text := CASE WHEN OLD.processed_at IS NULL OR OLD.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
        WHEN OLD.type = 'sdd_refund' THEN CASE WHEN OLD.status = 'approved' THEN 'refunded' END
        WHEN OLD.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE OLD.status END;
    new_kind text := CASE WHEN NEW.processed_at IS NULL OR NEW.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
        WHEN NEW.type = 'sdd_refund' THEN CASE WHEN NEW.status = 'approved' THEN 'refunded' END
        WHEN NEW.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE NEW.status END;
    old_reason text := CASE WHEN OLD.status = 'declined' THEN OLD.decline_code ELSE '' END;
    new_reason text := CASE WHEN NEW.status = 'declined' THEN NEW.decline_code ELSE '' END;
    sold_in uuid;
BEGIN
    IF (old_kind, OLD.processed_at / 86400000000, OLD.gateway_id, OLD.currency, old_reason, OLD.amount_minor)
        IS NOT DISTINCT FROM (new_kind, NEW.processed_at / 86400000000, NEW.gateway_id, NEW.currency, new_reason, NEW.amount_minor)
        OR old_kind IS NULL AND new_kind IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM 1 FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'transactions' AND c.counted_above >= NEW.id FOR SHARE;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    SELECT s.campaign_id INTO sold_in FROM orders o JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
        WHERE o.tenant_id = NEW.tenant_id AND o.id = NEW.order_id;
    sold_in := COALESCE(sold_in, '00000000-0000-0000-0000-000000000000'::uuid);
    IF old_kind IS NOT NULL THEN
        INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
        VALUES (NEW.tenant_id, OLD.processed_at / 86400000000, OLD.gateway_id, sold_in, OLD.currency, old_kind, old_reason, -1, -OLD.amount_minor);
    END IF;
    IF new_kind IS NOT NULL THEN
        INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
        VALUES (NEW.tenant_id, NEW.processed_at / 86400000000, NEW.gateway_id, sold_in, NEW.currency, new_kind, new_reason, 1, NEW.amount_minor);
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- The lines of a file are found by their import, and then all of them are joined: an index
-- by reference as well was most of what staging a line cost.
DROP INDEX staged_transactions_import_idx;
CREATE INDEX staged_transactions_import_idx ON staged_transactions (tenant_id, import_id);

-- +goose Down
-- Both functions count the same: an older program runs with these as well.
DROP INDEX staged_transactions_import_idx;
CREATE INDEX staged_transactions_import_idx ON staged_transactions (tenant_id, import_id, merchant_transaction_id);
