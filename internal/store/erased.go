package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/vault"
)

// Who was erased is remembered by keyed hashes, of the address and of the references
// of payments, so that neither a file that is taken in again nor a backup that is
// restored brings the person back. Keys are random and sealed: whoever reads the
// database cannot try addresses, and a rotation of encryption keys changes nothing.
// A tenant has one key, and further ones that came from elsewhere with their hashes.

// ErasureKey is a key of hashes as it is kept.
type ErasureKey struct {
	ID     uuid.UUID `json:"id"`
	Sealed string    `json:"key_sealed"`
}

// ErasedName is something by which an erased person would be known again.
type ErasedName struct {
	KeyID    uuid.UUID `json:"key_id"`
	Hash     string    `json:"name_hash"`
	ErasedAt time.Time `json:"erased_at"`
}

// bindErasure binds a key of a tenant's hashes to its row.
func bindErasure(tenantID, id uuid.UUID) vault.Binding {
	return vault.Purpose(tenantID, "erasure_key").In("key " + id.String())
}

// Memory knows erased persons of a tenant again.
type Memory struct {
	sepa.Masked
	tenantID uuid.UUID
	keys     []memoryKey
	names    map[string]time.Time // when, by hash
	extent   memoryExtent
}

// memoryExtent is what another memory of a tenant is told by: how many names there
// are, and when the last one came.
type memoryExtent struct{ names, latest int64 }

func (e *memoryExtent) add(n ErasedName) {
	e.names++
	e.latest = max(e.latest, n.ErasedAt.UnixMicro())
}

// memoryKey is a key that was opened.
type memoryKey struct {
	sepa.Masked
	id  uuid.UUID
	key []byte
}

func (k memoryKey) hash(name string) string {
	mac := hmac.New(sha256.New, k.key)
	mac.Write([]byte(name))
	return hex.EncodeToString(mac.Sum(nil))
}

func emailName(email string) string       { return "email:" + payment.Lead{Email: email}.EmailKey() }
func paymentName(reference string) string { return "payment:" + reference }

// KnowsEmail tells whether whoever had an address at an instant was erased since.
func (m *Memory) KnowsEmail(email string, at time.Time) bool {
	return email != "" && m.knows(emailName(email), at)
}

// KnowsPayment tells whether the payer of a payment that was made at an instant was
// erased since.
func (m *Memory) KnowsPayment(reference string, at time.Time) bool {
	return reference != "" && m.knows(paymentName(reference), at)
}

// ForgetPayer takes out of what others report of a payment who paid it, where that is somebody who was erased since.
func (m *Memory) ForgetPayer(t *payment.Transaction) {
	if m.KnowsEmail(t.Email, t.ProcessedAt) || m.KnowsPayment(t.MerchantTransactionID, time.Time{}) {
		t.HolderName, t.Email, t.MaskedIBAN, t.BIC = "", "", "", ""
	}
}

// ForgetDebtor does the same for a chargeback. It goes by when the payment was made, where that is said: it may come back
// long after its payer was erased.
func (m *Memory) ForgetDebtor(c *payment.Chargeback) {
	at := c.TransactionAt
	if at.IsZero() {
		at = c.ReportedAt
	}
	if m.KnowsEmail(c.Email, at) || m.KnowsPayment(c.MerchantTransactionID, time.Time{}) {
		c.Email, c.MaskedIBAN, c.BIC, c.ReportMessage, c.ReportInfo = "", "", "", "", ""
	}
}

func (m *Memory) knows(name string, at time.Time) bool {
	if len(m.names) == 0 {
		return false
	}
	for _, key := range m.keys {
		if erasedAt, known := m.names[key.hash(name)]; known && !at.After(erasedAt) {
			return true
		}
	}
	return false
}

// Memory reads what is remembered of the erased persons of a tenant.
func (s *Store) Memory(ctx context.Context, tenantID uuid.UUID) (*Memory, error) {
	keys, names, err := s.ErasedOf(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	m := &Memory{tenantID: tenantID, names: make(map[string]time.Time, len(names))}
	for _, kept := range keys {
		key, err := s.vault.Open(kept.Sealed, bindErasure(tenantID, kept.ID))
		if err != nil {
			return nil, err
		}
		m.keys = append(m.keys, memoryKey{id: kept.ID, key: key})
	}
	for _, name := range names {
		m.names[name.Hash] = name.ErasedAt
		m.extent.add(name)
	}
	return m, nil
}

// ErrMemoryOld says that somebody was erased since a memory was read.
var ErrMemoryOld = errors.New("store: somebody was erased meanwhile")

// RestOnMemory lets a unit that brings in what others know of persons go on only while
// nobody was erased since a memory was read, and has whoever is to be erased wait for
// its end: either the erasure finds what the unit has written, or the unit ends with
// ErrMemoryOld.
func (tx *Tx) RestOnMemory(m *Memory) error {
	// A statement of its own, so that the next one sees what came while it waited.
	result, err := tx.Query(`SELECT id FROM tenants WHERE id = $1`+tx.ShareLocked("tenants"), m.tenantID)
	if _, err = db.Collect(result, err, scanID); err != nil {
		return err
	}
	result, err = tx.Query(`SELECT COUNT(*), COALESCE(MAX(erased_at), 0) FROM erased_names WHERE tenant_id = $1`, m.tenantID)
	present, err := db.One(result, err, func(r db.Rows) (e memoryExtent, err error) { return e, r.Scan(&e.names, &e.latest) })
	if err == nil && present != m.extent {
		err = ErrMemoryOld
	}
	return err
}

// holdMemory has units that rest on a tenant's memory come before this one or after it.
func (tx *Tx) holdMemory(tenantID uuid.UUID) {
	tx.Then(`UPDATE tenants SET updated_at = updated_at WHERE id = $1`, tenantID)
}

// ErasedOf gives the hashes by which a tenant's erased persons are known again, and
// the keys of the hashes, sealed. A key is there before its first hash, and is
// therefore read after it.
func (s *Store) ErasedOf(ctx context.Context, tenantID uuid.UUID) (keys []ErasureKey, names []ErasedName, err error) {
	result, err := s.Query(ctx, `SELECT key_id, name_hash, erased_at FROM erased_names WHERE tenant_id = $1 ORDER BY key_id, name_hash`, tenantID)
	names, err = db.Collect(result, err, func(r db.Rows) (n ErasedName, err error) {
		return n, r.Scan(&n.KeyID, &n.Hash, db.Instant{To: &n.ErasedAt})
	})
	if err != nil {
		return nil, nil, err
	}
	result, err = s.Query(ctx, `SELECT id, key_sealed FROM erasure_keys WHERE tenant_id = $1 ORDER BY id`, tenantID)
	keys, err = db.Collect(result, err, func(r db.Rows) (k ErasureKey, err error) { return k, r.Scan(&k.ID, &k.Sealed) })
	return keys, names, err
}

// CheckErasureKeys refuses keys of hashes that are new here and cannot be opened: once they are taken in, no program
// starts without the encryption key that they are sealed with.
func (s *Store) CheckErasureKeys(ctx context.Context, tenantID uuid.UUID, keys []ErasureKey) error {
	known, _, err := s.ErasedOf(ctx, tenantID)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if slices.ContainsFunc(known, func(old ErasureKey) bool { return old.ID == k.ID }) {
			continue
		}
		if _, err := s.vault.Open(k.Sealed, bindErasure(tenantID, k.ID)); err != nil {
			return err
		}
	}
	return nil
}

// AddErased takes in what another database remembers of a tenant's erased persons.
func (tx *Tx) AddErased(tenantID uuid.UUID, keys []ErasureKey, names []ErasedName) {
	for _, k := range keys {
		tx.Then(`INSERT INTO erasure_keys (tenant_id, id, key_sealed) VALUES ($1, $2, $3) ON CONFLICT (tenant_id, id) DO NOTHING`,
			tenantID, k.ID, k.Sealed)
	}
	tx.addErasedNames(tenantID, names)
}

// addErasedNames writes hashes; of one that is known the later instant holds.
func (tx *Tx) addErasedNames(tenantID uuid.UUID, names []ErasedName) {
	const columns = 4
	for batch := range db.InBatches(names) {
		args := make([]any, 0, columns*len(batch))
		for _, n := range batch {
			args = append(args, tenantID, n.KeyID, n.Hash, db.Micros(n.ErasedAt))
		}
		tx.Then(`INSERT INTO erased_names (tenant_id, key_id, name_hash, erased_at) VALUES `+db.Placeholders(1, len(batch), columns)+`
			ON CONFLICT (tenant_id, key_id, name_hash) DO UPDATE SET erased_at = excluded.erased_at
			WHERE erased_names.erased_at < excluded.erased_at`, args...)
	}
}

// RememberErased notes by which names the person would come back. Memory is that of
// before, with a key (PrepareErasure). Of very many payments it notes the first, as Erase
// overwrites them.
func (tx *Tx) RememberErased(p *Person, m *Memory) error {
	if p.email != "" {
		tx.addErasedNames(p.TenantID, []ErasedName{{m.keys[0].id, m.keys[0].hash(emailName(p.email)), tx.At}})
	}
	return tx.rememberPayments(p.pieces()[0], m)
}

func (tx *Tx) rememberPayments(p *Person, m *Memory) error {
	references, err := rowsOf(tx.Query, p, "transactions", `SELECT merchant_transaction_id FROM transactions WHERE tenant_id = $1 AND id`, scanText)
	if err != nil {
		return err
	}
	key, names := m.keys[0], make([]ErasedName, len(references))
	for i, reference := range references {
		names[i] = ErasedName{key.id, key.hash(paymentName(reference)), tx.At}
	}
	tx.addErasedNames(p.TenantID, names)
	return nil
}

// PrepareErasure makes sure that a tenant has a key for hashes. Two processes that
// find none may each make one; both hold.
func (s *Store) PrepareErasure(ctx context.Context, tenantID uuid.UUID, now time.Time) (*Memory, error) {
	m, err := s.Memory(ctx, tenantID)
	if err != nil || len(m.keys) > 0 {
		return m, err
	}
	const keyBytes = 32
	made := memoryKey{id: payment.NewID(), key: make([]byte, keyBytes)}
	rand.Read(made.key)
	sealed, err := s.vault.Seal(made.key, bindErasure(tenantID, made.id))
	if err != nil {
		return nil, err
	}
	m.keys = append(m.keys, made)
	return m, s.Write(ctx, now, func(tx *Tx) error {
		tx.AddErased(tenantID, []ErasureKey{{made.id, sealed}}, nil)
		return nil
	})
}

// ErasuresDue gives leads that are to be erased, or looked at again, by an instant.
func (s *Store) ErasuresDue(ctx context.Context, now time.Time, limit int) ([]Due, error) {
	result, err := s.Query(ctx, `
		SELECT tenant_id, id, erase_due_at FROM leads WHERE erase_due_at IS NOT NULL AND erase_due_at <= $1
		ORDER BY erase_due_at LIMIT $2`, db.Micros(now), limit)
	return db.Collect(result, err, scanDue)
}

// ErasedAt is when a lead was erased, zero for one that was not.
func (t Tenant) ErasedAt(ctx context.Context, leadID uuid.UUID) (time.Time, error) {
	result, err := t.Query(ctx, `SELECT erased_at FROM leads WHERE tenant_id = $1 AND id = $2`, leadID)
	return db.One(result, err, func(r db.Rows) (at time.Time, err error) { return at, r.Scan(db.Instant{To: &at}) })
}

// NamedLead is an address that is known, with since when.
type NamedLead struct {
	sepa.Masked
	ID        uuid.UUID
	Email     string
	CreatedAt time.Time
}

// LeadsAfter gives leads that are not erased, by their ids.
func (t Tenant) LeadsAfter(ctx context.Context, after uuid.UUID, limit int) ([]NamedLead, error) {
	result, err := t.Query(ctx, `SELECT id, email, created_at FROM leads WHERE tenant_id = $1 AND erased_at IS NULL AND id > $2 ORDER BY id LIMIT $3`,
		after, limit)
	return db.Collect(result, err, func(r db.Rows) (l NamedLead, err error) {
		return l, r.Scan(&l.ID, &l.Email, db.Instant{To: &l.CreatedAt})
	})
}

// NamedPayment is a payment without a lead that names somebody.
type NamedPayment struct {
	NamedLead
	Reference string
}

// NamedPaymentsAfter gives payments that files brought in and that name somebody, by
// their ids.
func (t Tenant) NamedPaymentsAfter(ctx context.Context, after uuid.UUID, limit int) ([]NamedPayment, error) {
	result, err := t.Query(ctx, `
		SELECT id, email, processed_at, merchant_transaction_id FROM transactions
		WHERE tenant_id = $1 AND lead_id IS NULL AND (email <> '' OR holder_name <> '' OR iban_masked <> '') AND id > $2 ORDER BY id LIMIT $3`, after, limit)
	return db.Collect(result, err, func(r db.Rows) (p NamedPayment, err error) {
		return p, r.Scan(&p.ID, &p.Email, db.Instant{To: &p.CreatedAt}, &p.Reference)
	})
}
