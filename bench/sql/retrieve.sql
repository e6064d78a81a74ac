-- One of the sessions, with its lead, by key.
\set n random(1, :sessions)
SELECT s.*, l.* FROM sessions s JOIN leads l ON l.tenant_id = s.tenant_id AND l.id = s.lead_id
WHERE s.tenant_id = '018f0000-0000-7000-8000-000a00000001' AND s.id = ('018f0000-0000-7000-9000-' || lpad(:n, 12, '0'))::uuid;
