package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/store"
)

type keysCommand struct {
	Create keysCreateCommand `cmd:"" help:"Make a key and print it, this once."`
	List   keysListCommand   `cmd:"" help:"List keys with their last use; the keys themselves are not kept."`
	Revoke keysRevokeCommand `cmd:"" help:"End a key for good, at once."`

	RotateEncryption rotateEncryptionCommand `cmd:"" name:"rotate-encryption" help:"Seal everything with the first encryption key, so that older ones can go."`
}

type tenantFlag struct {
	Tenant string `name:"tenant" short:"t" placeholder:"ID|NAME" help:"The tenant, by id or name; may be left out where there is only one."`
}

type keysCreateCommand struct {
	Name  string   `arg:"" help:"What the key is for, such as backend."`
	Scope []string `name:"scope" placeholder:"SCOPE" help:"What the key opens: payments, refunds, subscriptions, reports; may be given several times (default: payments, reports)."`
	tenantFlag
	outputFlag
	dataFlags
}

func (keysCreateCommand) Help() string {
	return "Standard output has nothing but the key, so that it can be piped to where it is kept."
}

func (c *keysCreateCommand) Run(p *program) error {
	scopes, unknown := merchant.NewScopes(c.Scope)
	if len(unknown) > 0 {
		return errors.New(merchant.UnknownScopes(unknown))
	}
	return c.use(p, func(st *store.Store, access config.Access) error {
		tenant, err := setup.FindTenant(p.ctx, st, c.Tenant)
		if err != nil {
			return err
		}
		key, text, err := setup.CreateKey(p.ctx, st, tenant.ID, c.Name, scopes, access.Environment, clock.Real{}.Now(), store.RequestKey{})
		if err != nil {
			return err
		}
		if c.JSON {
			body := keyOf(tenant.ID, key)
			body.Key = text.Reveal()
			return p.printJSON(body)
		}
		fmt.Fprintln(p.stdout, text.Reveal())
		fmt.Fprintf(p.stderr, "Key %q of %s was made (id %s) for %s. It cannot be shown again.\n", key.Name, tenant.Name, key.ID, strings.Join(key.Scopes.List(), ", "))
		return nil
	})
}

// keyBody is a key for programs.
type keyBody struct {
	ID         uuid.UUID `json:"id"`
	TenantID   uuid.UUID `json:"tenant_id"`
	Name       string    `json:"name"`
	Prefix     string    `json:"prefix"`
	Scopes     []string  `json:"scopes"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
	RevokedAt  time.Time `json:"revoked_at,omitzero"`
	// Key is there once, when it has been made.
	Key string `json:"key,omitempty"`
}

func keyOf(tenantID uuid.UUID, k merchant.APIKey) keyBody {
	return keyBody{
		ID: k.ID, TenantID: tenantID, Name: k.Name, Prefix: k.Prefix, Scopes: k.Scopes.List(), CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt,
		RevokedAt: k.RevokedAt,
	}
}

type keysListCommand struct {
	tenantFlag
	outputFlag
	dataFlags
}

func (c *keysListCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		tenants, err := c.tenants(p, st)
		if err != nil {
			return err
		}
		bodies, rows := []keyBody{}, [][]string{}
		for _, tenant := range tenants {
			keys, err := st.Tenant(tenant.ID).APIKeys(p.ctx)
			if err != nil {
				return err
			}
			for _, k := range keys {
				bodies = append(bodies, keyOf(tenant.ID, k))
				rows = append(rows, []string{
					tenant.Name, k.Name, k.Prefix + "…", strings.Join(k.Scopes.List(), ","), day(k.CreatedAt), day(k.LastUsedAt), keyStatus(k), k.ID.String(),
				})
			}
		}
		if c.JSON {
			return p.printJSON(bodies)
		}
		return p.printTable([]string{"TENANT", "NAME", "KEY", "SCOPES", "CREATED", "LAST USED", "STATUS", "ID"}, rows)
	})
}

// tenants are all, or the one that was named.
func (c *keysListCommand) tenants(p *program, st *store.Store) ([]merchant.Tenant, error) {
	if c.Tenant == "" {
		return st.Tenants(p.ctx)
	}
	tenant, err := setup.FindTenant(p.ctx, st, c.Tenant)
	return []merchant.Tenant{tenant}, err
}

func day(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Format("2006-01-02 15:04")
}

func keyStatus(k merchant.APIKey) string {
	if k.Revoked() {
		return "revoked " + day(k.RevokedAt)
	}
	return "active"
}

type keysRevokeCommand struct {
	Key string `arg:"" help:"The key, by id, or by name where no other key has it."`
	tenantFlag
	outputFlag
	dataFlags
}

func (c *keysRevokeCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		tenant, err := setup.FindTenant(p.ctx, st, c.Tenant)
		if err != nil {
			return err
		}
		key, err := setup.RevokeKey(p.ctx, st, tenant.ID, c.Key, clock.Real{}.Now())
		if err != nil {
			return err
		}
		return c.tell(p, keyOf(tenant.ID, key), "Key %q of %s (%s…) is revoked.", key.Name, tenant.Name, key.Prefix)
	})
}

type rotateEncryptionCommand struct {
	outputFlag
	dataFlags
}

func (rotateEncryptionCommand) Help() string {
	return "The third step of a rotation: every process has the new key in front of SEPAD_ENCRYPTION_KEYS by now. The service may go on meanwhile. It can be stopped and started again at any time."
}

func (c *rotateEncryptionCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, access config.Access) error {
		bar := newProgress(p.stderr)
		done, err := st.Reseal(p.ctx, clock.Real{}.Now(), func(done, total int) { bar.show("rows sealed anew", done, total) })
		bar.clear()
		if err != nil {
			return err
		}
		return c.tell(p, map[string]any{"rows": done, "key": access.Vault.Current()},
			"%d rows were sealed anew with the key %q; nothing is sealed with another one. The others can be taken out of SEPAD_ENCRYPTION_KEYS once every process has %q in front.",
			done, access.Vault.Current(), access.Vault.Current())
	})
}
