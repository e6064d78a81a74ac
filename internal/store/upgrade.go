package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// An upgrade goes process by process: for a while programs of this version and of
// the one before use the database side by side, and the older one may be brought
// back. Until FinishUpgrade everything is written as both can read it. From then on
// older programs are refused, and what they could not have read is written: texts
// that are bound to their rows, tokens that are hidden, and events that are in line in a table of their own.
//
// A database that this version has made is in that state from the beginning. The
// next version will ask for it, and know no other.

// boundSchema is the first whose programs can do with bound texts and hidden tokens.
const boundSchema = 23

// compatibility is what a database says of the programs that may use it.
type compatibility struct {
	oldest       int64
	tokensHidden bool
}

const compatibilityColumns = `(SELECT oldest_version FROM schema_compatibility), (SELECT tokens_hidden FROM deployment)`

func (c *compatibility) fields() []any { return []any{&c.oldest, &c.tokensHidden} }

// note takes up what was read. There is no way back.
func (s *Store) note(c compatibility) {
	if c.oldest >= boundSchema && s.vault != nil {
		s.vault.BindRows()
	}
	if c.tokensHidden {
		s.tokensHidden.Store(true)
	}
	if c.oldest >= lineSchema {
		s.namesLine.Store(true)
	}
}

// LearnCompatibility reads what may be written.
func (s *Store) LearnCompatibility(ctx context.Context) error {
	result, err := s.Query(ctx, `SELECT `+compatibilityColumns)
	c, err := db.One(result, err, func(r db.Rows) (c compatibility, err error) { return c, r.Scan(c.fields()...) })
	if err == nil {
		s.note(c)
	}
	return err
}

// UpgradeIsOpen tells that something is still written, or lies there, as programs of
// the version before need it.
func (s *Store) UpgradeIsOpen() bool {
	return !s.tokensHidden.Load() || !s.namesLine.Load() || s.vault != nil && !s.vault.BindsRows()
}

// FinishUpgrade is told that no program of an older version runs any more, nor will.
// It refuses them from now on, and writes anew what was kept for them, while payments
// go on: processes hear of it with their next call, because every tenant's set-up has
// a new version. It can be stopped at any time and begun again.
func (s *Store) FinishUpgrade(ctx context.Context, now time.Time, progress func(done, total int)) (done int, err error) {
	err = s.Write(ctx, now, func(tx *Tx) error {
		tx.Then(`UPDATE tenants SET setup_version = setup_version + 1
			WHERE EXISTS (SELECT 1 FROM schema_compatibility WHERE oldest_version < $1)`, lineSchema)
		tx.Then(`UPDATE schema_compatibility SET oldest_version = $1 WHERE oldest_version < $1`, lineSchema)
		tx.Audit(databaseDeed("database.finish_upgrade", map[string]any{"schema": SchemaVersion}))
		return nil
	})
	if err == nil {
		err = s.LearnCompatibility(ctx)
	}
	if err != nil {
		return 0, err
	}
	return s.Reseal(ctx, now, progress)
}

// plainRow is a row that still has its token as older programs read it.
type plainRow struct {
	tenantID, id uuid.UUID
	text         string
}

// plainColumn is where such tokens are, and how they are hidden.
type plainColumn struct {
	table, column, isPlain string
	hide                   func(*Store, plainRow) (kept, sealed string, err error)
}

var plainColumns = []plainColumn{
	{"sessions", "token", `token_sealed = ''`, func(s *Store, row plainRow) (string, string, error) {
		n, err := s.NewSession(payment.Session{TenantID: row.tenantID, ID: row.id, Token: row.text})
		return n.keptToken, n.sealedToken, err
	}},
	{
		"events", "payload", `token_sealed = '' AND payload LIKE '%"session_token":"_%'`,
		func(s *Store, row plainRow) (string, string, error) {
			e, err := s.NewEvent(row.tenantID, EventRow{Event: payment.Event{ID: row.id}, Payload: row.text})
			return e.Payload, e.sealedToken, err
		},
	},
}

// hideTokens hides what tokens lie open, and remembers when none is left.
func (s *Store) hideTokens(ctx context.Context, now time.Time, more func(rows int)) error {
	if !s.bindsRows() || s.tokensHidden.Load() {
		return nil
	}
	for found := true; found; {
		found = false // a create that was under way may have left another one behind
		for _, c := range plainColumns {
			hidden, err := s.hideColumn(ctx, c, now, more)
			if err != nil {
				return err
			}
			found = found || hidden > 0
		}
	}
	err := s.Write(ctx, now, func(tx *Tx) error {
		// A payer who is at the sandbox's bank comes back by other ways.
		tx.Then(`UPDATE sandbox_payments SET return_url = '' WHERE return_url LIKE '%://%'`)
		tx.Then(`UPDATE deployment SET tokens_hidden = TRUE WHERE NOT tokens_hidden`)
		return nil
	})
	if err == nil {
		s.tokensHidden.Store(true)
	}
	return err
}

func (s *Store) hideColumn(ctx context.Context, c plainColumn, now time.Time, more func(rows int)) (hidden int, err error) {
	var last plainRow
	for {
		result, err := s.Query(ctx, `
			SELECT tenant_id, id, `+c.column+` FROM `+c.table+`
			WHERE (tenant_id, id) > ($1, $2) AND `+c.isPlain+` ORDER BY tenant_id, id LIMIT $3`, last.tenantID, last.id, resealBatch)
		rows, err := db.Collect(result, err, func(r db.Rows) (row plainRow, err error) {
			return row, r.Scan(&row.tenantID, &row.id, &row.text)
		})
		if err != nil || len(rows) == 0 {
			return hidden, err
		}
		if err := s.hideRows(ctx, c, rows, now); err != nil {
			return hidden, err
		}
		last = rows[len(rows)-1]
		hidden += len(rows)
		more(len(rows))
	}
}

func (s *Store) hideRows(ctx context.Context, c plainColumn, rows []plainRow, now time.Time) error {
	return s.Write(ctx, now, func(tx *Tx) error {
		for _, row := range rows {
			kept, sealed, err := c.hide(s, row)
			if err != nil {
				return err
			}
			tx.Then(`UPDATE `+c.table+` SET `+c.column+` = $1, token_sealed = $2 WHERE tenant_id = $3 AND id = $4 AND `+c.column+` = $5`,
				kept, sealed, row.tenantID, row.id, row.text)
		}
		return nil
	})
}
