INSERT INTO attempts_SUFFIX (tenant_id, event_id, id, number, attempted_at, duration_us, status_code, error, answer)
SELECT tenant_of(n), event_id(n), event_id(n), 1, n, 1500, 200, '', 'ok' FROM generate_series($1::bigint, $2::bigint) AS n
