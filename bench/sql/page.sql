SELECT id, gateway_reference, merchant_transaction_id, gateway_reference, tenant_reference_id, status, type, amount_minor,
    currency, processed_at, iban_masked, bic, email, holder_name, mandate_reference, mandate_at, source, order_id,
    subscription_id, lead_id, gateway_id, created_at, updated_at
FROM transactions
WHERE tenant_id = '018f0000-0000-7000-8000-000a00000001' AND processed_at < %d
ORDER BY processed_at DESC, id DESC LIMIT 1000
