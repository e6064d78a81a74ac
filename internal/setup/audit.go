package setup

import (
	"net/url"
	"reflect"
	"strings"

	"sepad/internal/merchant"
	"sepad/internal/store"
)

// deed is what the audit trail keeps of a change: all of a new record, and of another one
// what differs.
func (t *tenantPlan) deed(change Change, before, after merchant.Fields) store.Deed {
	kind := strings.ReplaceAll(string(change.Kind), " ", "_")
	d := store.Deed{Action: kind + ".create", ObjectType: kind, ObjectID: change.ID.String(), TenantID: t.id, After: withoutSecrets(after)}
	if change.Action == Changed {
		d.Action = kind + ".update"
		d.Before, d.After = differing(withoutSecrets(before), withoutSecrets(after))
	}
	return d
}

// withoutSecrets are fields as everybody may see them: what an adapter was told shows
// nothing, and addresses lose their passwords.
func withoutSecrets(fields merchant.Fields) map[string]any {
	shown := map[string]any{}
	for name, value := range fields {
		switch text, isText := value.(string); {
		case name == "settings" || name == "signing_secret":
		case isText && strings.Contains(text, "@") && strings.Contains(text, "://"):
			if address, err := url.Parse(text); err == nil {
				shown[name] = address.Redacted()
			}
		default:
			shown[name] = value
		}
	}
	return shown
}

// differing leaves out what stayed as it was. Where nothing is left, a secret was changed.
func differing(before, after map[string]any) (was, became map[string]any) {
	was, became = map[string]any{}, map[string]any{}
	for name, value := range after {
		if !reflect.DeepEqual(before[name], value) {
			was[name], became[name] = before[name], value
		}
	}
	if len(became) == 0 {
		became["secrets"] = "changed"
	}
	return was, became
}
