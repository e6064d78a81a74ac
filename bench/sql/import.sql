-- What a person with psql would do: the file into a bare table, then one
-- statement into the transactions, whose keys sort out what is known.
\set ON_ERROR_STOP on
TRUNCATE bench_staging;
\copy bench_staging FROM 'FILE' WITH (FORMAT csv, HEADER)
INSERT INTO transactions (tenant_id, id, gateway_id, merchant_transaction_id, gateway_reference, status, type, amount_minor,
    currency, sequence_type, source, iban_sealed, iban_masked, iban_country, bic, bank_name, holder_name, email,
    mandate_reference, mandate_at, attempt_number, lookup_count, verification_url, verification_reference, decline_code,
    decline_message, gateway_code, gateway_message, processed_at, created_at, updated_at)
SELECT 'TENANT', ('01900000-0000-7000-8000-' || lpad(to_hex(row_number() OVER ()), 12, '0'))::uuid, 'GATEWAY',
    merchant_transaction_id, adapter_unique_id, status, type, (amount * 100)::bigint, currency, '', 'csv_import', '',
    repeat('*', greatest(length(iban) - 4, 0)) || right(iban, 4), left(iban, 2), bic, '', customer_name_csv, customer_email_csv,
    mandate_reference_id, (extract(epoch FROM mandate_date) * 1000000)::bigint, 0, 0, '', '', '', '', '', '',
    (extract(epoch FROM date_processed) * 1000000)::bigint, 1, 1
FROM bench_staging
ON CONFLICT (tenant_id, merchant_transaction_id) DO NOTHING;
