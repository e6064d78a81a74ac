package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

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
	gateway := s.Do(t, calling("POST", ofShop("gateways"), apptest.Body{"name": "x", "adapter": "sandbox", "settings": apptest.Body{"notification_secret": "hush"}})).
		Want(t, http.StatusCreated, nil).Text(t, "id")
	if shown := s.Do(t, operator(ofShop("gateways")+gateway+"/settings/", nil)).Want(t, http.StatusOK, nil); strings.TrimSpace(string(shown.Raw)) != `{"settings":{},"secrets":["notification_secret"]}` {
		t.Errorf("shows %s", shown.Raw)
	}
	s.Do(t, operator(ofShop("gateways")+uuid.NewString()+"/settings/", nil)).WantDetail(t, http.StatusNotFound, "Gateway not found")
	s.Do(t, calling("POST", ofShop("gateways"), apptest.Body{"name": "x", "adapter": "sandbox", "settings": apptest.Body{"notification_sekret": "hush"}})).
		WantBad(t, map[string]string{"settings.notification_sekret": "This setting is not known. Did you mean notification_secret?"})
}
