-- +goose Up
-- The place of an event in its tenant's feed, given when a reader first comes upon
-- it, and the last one that was given.
ALTER TABLE events ADD COLUMN feed_position INTEGER;
CREATE TABLE event_feeds (
    tenant_id     TEXT    NOT NULL,
    last_position INTEGER NOT NULL,
    CONSTRAINT event_feeds_key PRIMARY KEY (tenant_id)
) STRICT;
CREATE INDEX events_unnumbered_idx ON events (tenant_id, id) WHERE feed_position IS NULL;
CREATE INDEX events_feed_idx ON events (tenant_id, feed_position) WHERE feed_position IS NOT NULL;
CREATE INDEX events_missed_idx ON events (tenant_id, feed_position)
    WHERE feed_position IS NOT NULL AND delivery_status <> 'delivered';

-- +goose Down
DROP INDEX events_missed_idx;
DROP INDEX events_feed_idx;
DROP INDEX events_unnumbered_idx;
DROP TABLE event_feeds;
ALTER TABLE events DROP COLUMN feed_position;
