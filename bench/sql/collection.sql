SELECT t.merchant_transaction_id, t.amount_minor, t.holder_name, t.iban_sealed, t.bic, t.mandate_reference, t.mandate_at, o.order_number,
    l.first_name, l.last_name, l.address, l.city, l.postal_code, l.country
FROM transactions t
LEFT JOIN sessions s ON s.tenant_id = t.tenant_id AND s.id = t.session_id
LEFT JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
LEFT JOIN leads l ON l.tenant_id = t.tenant_id AND l.id = t.lead_id
WHERE t.tenant_id = $1 AND t.id = $2
