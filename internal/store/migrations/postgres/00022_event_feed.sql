-- +goose NO TRANSACTION
-- +goose Up
-- The place of an event in its tenant's feed, given when a reader first comes upon
-- it, and the last one that was given.
ALTER TABLE events ADD COLUMN IF NOT EXISTS feed_position bigint;
CREATE TABLE IF NOT EXISTS event_feeds (
    tenant_id     uuid   NOT NULL,
    last_position bigint NOT NULL,
    CONSTRAINT event_feeds_key PRIMARY KEY (tenant_id)
);
-- Indexes are built while others write; what an interrupted try has left goes first.
DROP INDEX CONCURRENTLY IF EXISTS events_unnumbered_idx;
CREATE INDEX CONCURRENTLY events_unnumbered_idx ON events (tenant_id, id) WHERE feed_position IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS events_feed_idx;
CREATE INDEX CONCURRENTLY events_feed_idx ON events (tenant_id, feed_position) WHERE feed_position IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS events_missed_idx;
CREATE INDEX CONCURRENTLY events_missed_idx ON events (tenant_id, feed_position)
    WHERE feed_position IS NOT NULL AND delivery_status <> 'delivered';

-- +goose Down
DROP INDEX events_missed_idx;
DROP INDEX events_feed_idx;
DROP INDEX events_unnumbered_idx;
DROP TABLE event_feeds;
ALTER TABLE events DROP COLUMN feed_position;
