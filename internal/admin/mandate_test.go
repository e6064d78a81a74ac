package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/checkout"
	"sepad/internal/store/storetest"
)

const mandates = "/admin/v1/mandates/"

func TestEvidenceOfMandates(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, sale := paid(t, s, apptest.Direct(), apptest.Approved)
		reference := storetest.Scalar[string](t, s.Env, `SELECT mandate_reference FROM transactions`)
		s.Do(t, operator(mandates+reference+"/", nil)).WantDetail(t, http.StatusNotFound, checkout.ErrNoEvidence.Detail)

		// The same payment, had it been made on the page.
		s.Env.Exec(t, `UPDATE transactions SET source = 'hosted_page'`)
		s.Env.Exec(t, `INSERT INTO mandate_acceptances (tenant_id, transaction_id, session_id, acceptance_mode, language, text_version,
			text, text_hash, client_ip, user_agent, accepted_at)
			SELECT tenant_id, id, session_id, 'checkbox', 'de', '2', 'Ich ermächtige …', 'ab12', '192.0.2.7', '', mandate_at FROM transactions`)
		shown := s.Do(t, operator(mandates+reference+"/", nil)).Want(t, http.StatusOK, apptest.Fields{"mandate_reference_id": reference})
		all := shown.Get(t, "acceptances").([]any)
		if len(all) != 1 {
			t.Fatalf("shows %s", shown.Raw)
		}
		one := all[0].(map[string]any)
		for field, want := range map[string]any{
			"tenant_id": apptest.Shop, "transaction_id": sale, "transaction_status": "approved", "mandate_acceptance_mode": "checkbox",
			"language": "de", "text_version": "2", "text": "Ich ermächtige …", "text_sha256": "ab12", "client_ip": "192.0.2.7",
			"user_agent": nil, "iban_holder_name": apptest.HolderName,
		} {
			if one[field] != want {
				t.Errorf("%s is %v, want %v", field, one[field], want)
			}
		}
		if strings.Contains(string(shown.Raw), apptest.Approved) {
			t.Errorf("the account is not masked in %s", shown.Raw)
		}
		logged := `"reader":"admin_api","mandate_reference":"` + reference + `","tenant_id":"` + apptest.Shop + `"`
		if strings.Count(s.Log(), logged) != 1 || strings.Contains(s.Log(), "192.0.2.7") {
			t.Error("the look is not logged once, without the payer")
		}
		for _, unknown := range []string{"MND-NOBODYHASIT1", "%00", "%FF"} {
			s.Do(t, operator(mandates+unknown+"/", nil)).WantDetail(t, http.StatusNotFound, checkout.ErrNoEvidence.Detail)
		}
		s.Do(t, apptest.Request{Path: mandates + reference + "/", Key: s.Key}).Want(t, http.StatusUnauthorized, nil)
	})
}
