package admin

import (
	"maps"
	"net/http"
	"slices"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/web"
)

// adapterBody is a gateway that an account can be opened at.
type adapterBody struct {
	Name        string        `json:"name"`
	DisplayName string        `json:"display_name"`
	MovesMoney  bool          `json:"moves_money"`
	Batch       bool          `json:"batch"`
	Currencies  []string      `json:"currencies"`
	Settings    []settingBody `json:"settings"`
}

// settingBody is a row of an adapter's table of settings.
type settingBody struct {
	Name     string              `json:"name"`
	Type     gateway.SettingType `json:"type"`
	Help     string              `json:"help"`
	Required bool                `json:"required"`
	Secret   bool                `json:"secret"`
	Default  any                 `json:"default"`
	Choices  []string            `json:"choices,omitempty"`
	Minimum  *int                `json:"minimum,omitempty"`
	Maximum  *int                `json:"maximum,omitempty"`
	Fields   []settingBody       `json:"fields,omitempty"`
}

// listAdapters tells what gateways there are, and what their accounts need.
func (a *Admin) listAdapters(w http.ResponseWriter, r *http.Request) error {
	if err := a.ask(r).err(); err != nil {
		return err
	}
	list := listBody[adapterBody]{Results: []adapterBody{}}
	for _, name := range slices.Sorted(maps.Keys(a.Applier.Kinds)) {
		kind := a.Applier.Kinds[name]
		list.Results = append(list.Results, adapterBody{
			Name: name, DisplayName: kind.DisplayName, MovesMoney: kind.Real, Batch: kind.Batch,
			Currencies: kind.Currencies, Settings: settingBodies(kind.Settings),
		})
	}
	web.WriteJSON(w, r, http.StatusOK, list)
	return nil
}

// accountSettingsBody is what an account was told, its secrets by name alone.
type accountSettingsBody struct {
	Settings map[string]any `json:"settings"`
	Secrets  []string       `json:"secrets"`
}

// showSettings tells what a gateway account works with, defaults included.
func (a *Admin) showSettings(w http.ResponseWriter, r *http.Request) error {
	_, account, err := a.gatewayNamed(r)
	if err != nil {
		return err
	}
	shown, secrets := a.Applier.Kinds[account.Adapter].Shown(account.Settings)
	web.WriteJSON(w, r, http.StatusOK, accountSettingsBody{shown, secrets})
	return nil
}

// gatewayNamed finds the gateway account that a path names, in its tenant's set-up.
func (a *Admin) gatewayNamed(r *http.Request) (of *merchant.Setup, account merchant.GatewayAccount, err error) {
	if of, err = a.tenantSetup(r); err != nil {
		return nil, account, err
	}
	id, err := pathID(r, "id", errNoGateway)
	if err != nil {
		return nil, account, err
	}
	account, found := of.Gateways[id]
	if !found {
		return nil, account, errNoGateway
	}
	return of, account, nil
}

func settingBodies(table []gateway.Setting) []settingBody {
	bodies := make([]settingBody, len(table))
	for i, s := range table {
		bodies[i] = settingBody{
			Name: s.Name, Type: s.Type, Help: s.Help, Required: s.Required, Secret: s.Secret, Default: s.Default, Choices: s.Choices,
		}
		if s.Low != 0 || s.High != 0 {
			bodies[i].Minimum, bodies[i].Maximum = &s.Low, &s.High
		}
		if len(s.Fields) > 0 {
			bodies[i].Fields = settingBodies(s.Fields)
		}
	}
	return bodies
}
