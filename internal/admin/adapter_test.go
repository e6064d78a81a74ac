package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
)

func TestAdaptersTellWhatTheirAccountsNeed(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	listed := s.Do(t, operator("/admin/v1/adapters/", nil)).Want(t, http.StatusOK, nil)
	for _, want := range []string{
		`"name":"sandbox","display_name":"Sandbox","moves_money":false,"batch":false,"currencies":["EUR"]`,
		`{"name":"notification_secret","type":"text","help":"Lets `, `"required":false,"secret":true,"default":null}`,
	} {
		if !strings.Contains(string(listed.Raw), want) {
			t.Errorf("%s is missing in %s", want, listed.Raw)
		}
	}
	s.Do(t, calling("POST", ofShop("gateways"), apptest.Body{"name": "x", "adapter": "sandbox", "settings": apptest.Body{"notification_sekret": "hush"}})).
		WantBad(t, map[string]string{"settings.notification_sekret": "This setting is not known. Did you mean notification_secret?"})
}
