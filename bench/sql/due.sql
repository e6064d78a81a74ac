-- Makes $1 subscriptions that nobody waits for due on day $2, which begins at $3.
-- Each is billed for its next period, whatever day that was meant for.
UPDATE subscriptions s SET next_billing_date = $2::text, due_at = $3::bigint
FROM (SELECT tenant_id, id FROM subscriptions WHERE due_at > $3 ORDER BY id LIMIT $1) AS chosen
WHERE s.tenant_id = chosen.tenant_id AND s.id = chosen.id;
