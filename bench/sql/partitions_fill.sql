-- Events with the numbers from $1 to $2 in time order, all of them delivered at the first attempt but the last of every thousand of the newest,
-- which are in line. SUFFIX is flat or parted.
INSERT INTO events_SUFFIX (tenant_id, id, event_key, kind, webhook_profile_id, payload, created_at, delivery_status, attempt_count, feed_position, token_sealed)
SELECT tenant_of(n), event_id(n), 'transaction.created:' || event_id(n), 'transaction.created', profile_of(n), repeat('A', 300), n,
    CASE WHEN n % 1000 = 0 AND n > $3 THEN 'pending' ELSE 'delivered' END, CASE WHEN n % 1000 = 0 AND n > $3 THEN 0 ELSE 1 END, n, ''
FROM generate_series($1::bigint, $2::bigint) AS n
