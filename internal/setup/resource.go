package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// ErrNoTenant is the answer for a tenant that does not exist.
var ErrNoTenant = &payment.Error{Kind: payment.NotFound, Detail: "Tenant not found"}

// Fields are a record's fields as a resource file has them.
type Fields map[string]any

// PutTenant creates or changes a tenant by the fields of a resource file.
func (a *Applier) PutTenant(ctx context.Context, fields Fields, now time.Time) ([]Change, error) {
	return a.put(ctx, map[string]any(fields), "tenants[0].", now)
}

// PutRecord creates or changes one record of a tenant that exists, of the kind
// that a list of the resource file holds (such as "offers"). It is one more way to
// apply a file: what is checked, kept and completed is the same.
func (a *Applier) PutRecord(ctx context.Context, tenantID uuid.UUID, list string, fields Fields, now time.Time) ([]Change, error) {
	tenant, err := a.Store.Tenant(tenantID).Tenant(ctx)
	if store.IsNotFound(err) {
		return nil, ErrNoTenant
	}
	if err != nil {
		return nil, err
	}
	whole := TenantFields(tenant)
	whole[list] = []any{fields}
	return a.put(ctx, whole, "tenants[0]."+list+"[0].", now)
}

// TenantFields are a tenant's own fields.
func TenantFields(t merchant.Tenant) Fields {
	fields := Fields{"id": t.ID, "name": t.Name, "creditor": nil}
	if t.Creditor != (merchant.Creditor{}) {
		creditor := map[string]any{"name": t.Creditor.Name}
		for name, text := range map[string]string{"address": t.Creditor.Address, "identifier": t.Creditor.Identifier} {
			if text != "" {
				creditor[name] = text
			}
		}
		fields["creditor"] = creditor
	}
	return fields
}

// put applies a file that is made of one tenant. A mistake is told by the field
// that it is in; JSON is a form of YAML.
func (a *Applier) put(ctx context.Context, tenant map[string]any, place string, now time.Time) ([]Change, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // YAML does not know how JSON escapes pairs of surrogates
	if err := encoder.Encode(map[string]any{"tenants": []any{tenant}}); err != nil {
		return nil, err
	}
	file, err := merchant.ParseFile("", text.Bytes(), a.Environment, slices.Sorted(maps.Keys(a.Kinds)))
	if err != nil {
		return nil, fieldErrors(err, place)
	}
	changes, err := a.Apply(ctx, file, now)
	return changes, fieldErrors(err, place)
}

// fieldErrors turns the mistakes of a file into those of a request.
func fieldErrors(err error, place string) error {
	wrong, ok := errors.AsType[*merchant.FileError](err)
	if !ok {
		return err
	}
	bad := payment.Fields{}
	for _, mistake := range wrong.Mistakes {
		field := strings.TrimPrefix(mistake.Path, place)
		if _, told := bad[field]; !told {
			bad.Add(field, mistake.Sentence)
		}
	}
	return bad.Err()
}
