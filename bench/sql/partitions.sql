-- The tables of events and attempts as they are (flat), and the same by month of their event (parted). Ids are UUIDv7: the month follows from
-- the id, so that it is the id that partitions are made by. A key that must not be written twice cannot be held by partitions; a table of its own does.
CREATE FUNCTION event_id(n bigint) RETURNS uuid IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN (lpad(to_hex(%[1]d + n * %[2]d), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid;
CREATE FUNCTION month_id(month date) RETURNS uuid IMMUTABLE LANGUAGE sql
    RETURN (lpad(to_hex((extract(epoch FROM month) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid;
CREATE FUNCTION tenant_of(n bigint) RETURNS uuid IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN ('018f0000-0000-7000-8000-000a0000000' || (n %% 8 + 1)::text)::uuid;
CREATE FUNCTION profile_of(n bigint) RETURNS uuid IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN ('018f0000-0000-7000-8000-000c0000000' || (n / 8 %% 4 + 1)::text)::uuid;

ALTER TABLE events RENAME TO events_flat;
ALTER TABLE webhook_attempts RENAME TO attempts_flat;
CREATE TABLE events_parted (LIKE events_flat INCLUDING DEFAULTS, PRIMARY KEY (tenant_id, id)) PARTITION BY RANGE (id);
CREATE TABLE attempts_parted (LIKE attempts_flat INCLUDING DEFAULTS, PRIMARY KEY (tenant_id, event_id, id)) PARTITION BY RANGE (event_id);
CREATE TABLE other_indexes (definition text);
CREATE TABLE event_keys (tenant_id uuid NOT NULL, event_key text NOT NULL, event_id uuid NOT NULL, PRIMARY KEY (tenant_id, event_key));
DO $$
DECLARE
    month date;
    definition text;
BEGIN
    FOR month IN SELECT generate_series(date '%[3]s', date '%[3]s' + interval '11 months', interval '1 month')::date LOOP
        EXECUTE format('CREATE TABLE events_parted_%%s PARTITION OF events_parted FOR VALUES FROM (%%L) TO (%%L)',
            to_char(month, 'MM'), month_id(month), month_id((month + interval '1 month')::date));
        EXECUTE format('CREATE TABLE attempts_parted_%%s PARTITION OF attempts_parted FOR VALUES FROM (%%L) TO (%%L)',
            to_char(month, 'MM'), month_id(month), month_id((month + interval '1 month')::date));
    END LOOP;
    -- Indexes that are no keys are made once most rows are there.
    FOR definition IN SELECT indexname FROM pg_indexes WHERE tablename = 'events_flat' AND indexdef NOT LIKE '%%UNIQUE%%' LOOP
        INSERT INTO other_indexes SELECT indexdef FROM pg_indexes WHERE indexname = definition;
        EXECUTE 'DROP INDEX ' || definition;
    END LOOP;
END $$;
CREATE PROCEDURE make_indexes() LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    FOR found IN SELECT definition FROM other_indexes LOOP
        EXECUTE found;
        EXECUTE replace(replace(found, ' ON public.events_flat ', ' ON events_parted '), 'INDEX events_', 'INDEX parted_');
    END LOOP;
END $$;
