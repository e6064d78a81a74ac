-- What a person with psql would do: the file into a bare table, and one join
-- with the transactions that adds up where every line stands.
\set ON_ERROR_STOP on
TRUNCATE bench_staging;
\copy bench_staging FROM 'FILE' WITH (FORMAT csv, HEADER)
ANALYZE bench_staging;
SELECT CASE WHEN t.id IS NULL THEN 'missing here' WHEN s.merchant_transaction_id IS NULL THEN 'missing there'
        WHEN t.amount_minor = (s.amount * 100)::bigint AND t.currency = s.currency AND t.status = s.status THEN 'matched' ELSE 'differing' END,
    COUNT(*), SUM(s.amount), SUM(t.amount_minor)
FROM bench_staging s
FULL JOIN (SELECT * FROM transactions WHERE tenant_id = 'TENANT' AND gateway_id = 'GATEWAY') t
    ON t.merchant_transaction_id = s.merchant_transaction_id
GROUP BY 1;
