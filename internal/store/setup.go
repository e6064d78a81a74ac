package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// versionedSetup is a tenant's set-up as it is kept in memory, under the version
// that authentication or a session look-up has just read. A change raises the
// version, so that what was changed is in force at once, and calls need no query
// of their own for it.
type versionedSetup struct {
	version int64
	setup   *merchant.Setup
}

// Setup gives a tenant's set-up in a version read before. It is shared between
// calls and must not be changed.
func (s *Store) Setup(ctx context.Context, tenantID uuid.UUID, version int64) (*merchant.Setup, error) {
	if known, ok := s.setups.Get(tenantID); ok && known.version == version {
		return known.setup, nil
	}
	return s.readTogether(ctx, tenantID, version)
}

// readTogether has those who come at the same time, and for the same purpose, read a set-up once: it may be large, and after a
// change all of a tenant's calls want it anew.
func (s *Store) readTogether(ctx context.Context, tenantID uuid.UUID, version int64) (*merchant.Setup, error) {
	if !reaches(ctx, tenantID) {
		return nil, errForeign
	}
	read := func(ctx context.Context) (*merchant.Setup, error) {
		setup, err := s.Tenant(tenantID).readSetup(ctx)
		if err == nil {
			s.setups.Keep(tenantID, versionedSetup{version, setup})
		}
		return setup, err
	}
	shared, err, _ := s.readingSetup.Do(fmt.Sprint(tenantID, version, db.PurposeOf(ctx)), func() (any, error) {
		if known, ok := s.setups.Get(tenantID); ok && known.version == version { // since this call has looked
			return known.setup, nil
		}
		return read(context.WithoutCancel(ctx)) // others wait for it, and have not gone
	})
	if err != nil { // of whoever has begun it
		return read(ctx)
	}
	return shared.(*merchant.Setup), nil
}

// readSetup reads all that a tenant has set up, the inactive included.
func (t Tenant) readSetup(ctx context.Context) (*merchant.Setup, error) {
	var programs compatibility
	result, err := t.Query(ctx, `SELECT `+tenantColumns+`, version, `+compatibilityColumns+` FROM tenants WHERE id = $1`)
	setup, err := db.One(result, err, func(r db.Rows) (*merchant.Setup, error) { return scanSetup(r, &programs) })
	if err != nil {
		return nil, err
	}
	t.store.note(programs)
	result, err = t.Query(ctx, `SELECT id, kind, document, secrets, active, version FROM setup_records WHERE tenant_id = $1`)
	records, err := db.Collect(result, err, func(r db.Rows) (setupRecord, error) {
		var v setupRecord
		return v, r.Scan(&v.id, &v.kind, &v.document, &v.secrets, &v.active, &v.version)
	})
	if err != nil {
		return nil, err
	}
	for _, record := range records {
		setup.Versions[record.id] = record.version
		if err := t.store.decodeRecord(setup, record); err != nil {
			return nil, err
		}
	}
	return setup, nil
}

const tenantColumns = `id, number, name, creditor_name, creditor_address, creditor_identifier,
	notice_sender, notice_reply_to, notice_send, allowed_origins`

// scanTenant reads a tenant's columns and whatever was selected after them.
func scanTenant(r db.Rows, more ...any) (merchant.Tenant, error) {
	var t merchant.Tenant
	var number int64
	err := r.Scan(append([]any{&t.ID, &number, &t.Name, &t.Creditor.Name, &t.Creditor.Address, &t.Creditor.Identifier,
		&t.Notices.Sender, &t.Notices.ReplyTo, &t.Notices.Send, &t.AllowedOrigins}, more...)...)
	t.Number = uint32(number)
	return t, err
}

func scanTenantAlone(r db.Rows) (merchant.Tenant, error) { return scanTenant(r) }

// scanSetup begins a set-up with the tenant itself.
func scanSetup(r db.Rows, programs *compatibility) (*merchant.Setup, error) {
	var version int64
	tenant, err := scanTenant(r, append([]any{&version}, programs.fields()...)...)
	setup := merchant.NewSetup(tenant)
	setup.Versions[tenant.ID] = version
	return setup, err
}

// Tenant reads the tenant itself.
func (t Tenant) Tenant(ctx context.Context) (merchant.Tenant, error) {
	result, err := t.Query(ctx, `SELECT `+tenantColumns+` FROM tenants WHERE id = $1`)
	return db.One(result, err, scanTenantAlone)
}

// Tenants lists every tenant by name.
func (s *Store) Tenants(ctx context.Context) ([]merchant.Tenant, error) {
	result, err := s.Query(ctx, `SELECT `+tenantColumns+` FROM tenants ORDER BY name, id`)
	all, err := db.Collect(result, err, scanTenantAlone)
	return reached(ctx, all, err, func(t merchant.Tenant) uuid.UUID { return t.ID })
}

// SetupOfPage is that of the tenant who has a hosted page, among those that a call reaches. Operators
// ask seldom, and tenants are few: no index is kept for it.
func (s *Store) SetupOfPage(ctx context.Context, page uuid.UUID) (*merchant.Setup, error) {
	tenants, err := s.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	for _, tenant := range tenants {
		setup, err := s.CurrentSetup(ctx, tenant.ID)
		if err != nil {
			return nil, err
		}
		if _, found := setup.HostedPages[page]; found {
			return setup, nil
		}
	}
	return nil, errForeign
}

// CurrentSetup is a tenant's set-up as it is now.
func (s *Store) CurrentSetup(ctx context.Context, tenantID uuid.UUID) (*merchant.Setup, error) {
	version, err := s.SetupVersion(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	return s.Setup(ctx, tenantID, version)
}

// IsNotFound tells that a read found no row.
func IsNotFound(err error) bool { return errors.Is(err, db.ErrNoRow) }

// PutTenant creates or changes a tenant. Its number, once given, stays.
func (tx *Tx) PutTenant(t merchant.Tenant) {
	tx.Then(`
		INSERT INTO tenants (id, number, name, creditor_name, creditor_address, creditor_identifier, notice_sender, notice_reply_to, notice_send,
			allowed_origins, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $8, $9, $10, $11, $7, $7)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, creditor_name = excluded.creditor_name,
			creditor_address = excluded.creditor_address, creditor_identifier = excluded.creditor_identifier,
			notice_sender = excluded.notice_sender, notice_reply_to = excluded.notice_reply_to, notice_send = excluded.notice_send,
			allowed_origins = excluded.allowed_origins, setup_version = tenants.setup_version + 1, version = tenants.version + 1, updated_at = excluded.updated_at`,
		t.ID, int64(t.Number), t.Name, t.Creditor.Name, t.Creditor.Address, t.Creditor.Identifier, db.Micros(tx.At),
		t.Notices.Sender, t.Notices.ReplyTo, string(t.Notices.Send), string(t.AllowedOrigins))
}

// ClaimSetup lets a change of a tenant's set-up go on only from the version on
// which it was planned: of two at once, the later gets ErrStale and plans again.
func (tx *Tx) ClaimSetup(tenantID uuid.UUID, version int64) {
	tx.Require(ErrStale, `UPDATE tenants SET setup_version = setup_version + 1 WHERE id = $1 AND setup_version = $2`,
		tenantID, version)
}

// ErrForeignRecord says that an id belongs to another tenant or another kind.
var ErrForeignRecord = errors.New("the id is in use for something else")

// put writes one set-up record; an id of another tenant or kind is refused.
func (tx *Tx) put(tenantID uuid.UUID, record setupRecord) {
	tx.Require(ErrForeignRecord, `
		INSERT INTO setup_records (tenant_id, id, kind, document, secrets, active, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document, secrets = excluded.secrets,
			active = excluded.active, version = setup_records.version + 1, updated_at = excluded.updated_at
		WHERE setup_records.tenant_id = excluded.tenant_id AND setup_records.kind = excluded.kind`,
		tenantID, record.id, record.kind, record.document, record.secrets, record.active, db.Micros(tx.At))
	tx.Then(`UPDATE tenants SET setup_version = setup_version + 1 WHERE id = $1`, tenantID)
}

// maxSetup is how much a tenant may set up, in bytes: as much as a resource file may have. Each process keeps it in memory and
// reads it again after each change.
const maxSetup = 8 << 20

// ErrSetupFull says that there is no room for more.
var ErrSetupFull = &payment.Error{Kind: payment.Conflict, Detail: "This tenant has set up as much as there is room for (8 MiB). Shorten texts, or change records that nobody needs any more."}

// RequireSetupRoom refuses what goes beyond, with all that was written before it.
func (tx *Tx) RequireSetupRoom(tenantID uuid.UUID) {
	tx.Require(ErrSetupFull, `UPDATE tenants SET setup_version = setup_version WHERE id = $1 AND
		(SELECT COALESCE(SUM(OCTET_LENGTH(document) + OCTET_LENGTH(secrets)), 0) FROM setup_records WHERE tenant_id = $1) <= $2`, tenantID, maxSetup)
}

// RecordOwner finds whose a set-up record is, whatever its kind.
func (s *Store) RecordOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, kind string, found bool, err error) {
	type owner struct {
		tenantID uuid.UUID
		kind     string
	}
	result, err := s.Query(ctx, `SELECT tenant_id, kind FROM setup_records WHERE id = $1`, id)
	o, err := db.One(result, err, func(r db.Rows) (o owner, err error) { return o, r.Scan(&o.tenantID, &o.kind) })
	if IsNotFound(err) || err == nil && !reaches(ctx, o.tenantID) {
		return uuid.Nil, "", false, nil
	}
	return o.tenantID, o.kind, err == nil, err
}
