package merchant

import (
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

func TestDemoFile(t *testing.T) {
	t.Parallel()
	file, err := Rules{Sandbox, []string{"sandbox"}}.ParseFile(DemoFileName, DemoFile)
	if err != nil {
		t.Fatal(err)
	}
	demo := file.Tenants[0]
	offers, campaigns := map[uuid.UUID]Offer{}, map[uuid.UUID]Campaign{}
	for _, o := range demo.Offers {
		offers[o.Record.ID] = o.Record
	}
	for _, c := range demo.Campaigns {
		campaigns[c.Record.ID] = c.Record
	}
	t.Run("holds one tenant that refers to nothing outside", func(t *testing.T) {
		t.Parallel()
		if len(file.Tenants) != 1 || demo.Tenant.ID != DemoTenantID || len(demo.Unresolved) != 0 {
			t.Errorf("got %d tenants, first %s, unresolved %v", len(file.Tenants), demo.Tenant.ID, demo.Unresolved)
		}
		if demo.Tenant.Creditor.Identifier != "DE98ZZZ09999999999" {
			t.Errorf("creditor is %+v", demo.Tenant.Creditor)
		}
	})
	t.Run("leaves key and secret to be made", func(t *testing.T) {
		t.Parallel()
		if len(demo.APIKeys) != 1 || !demo.APIKeys[0].Key.IsZero() || !demo.WebhookProfiles[0].Record.SigningSecret.IsZero() {
			t.Error("the demo file must not hold a key or secret")
		}
	})
	t.Run("has a default webhook profile so that events can be seen", func(t *testing.T) {
		t.Parallel()
		if p := demo.WebhookProfiles[0].Record; !p.Default || len(p.Events) != len(payment.UsualEvents) {
			t.Errorf("profile is %+v", p)
		}
	})
	t.Run("offers every billing type", func(t *testing.T) {
		t.Parallel()
		seen := map[payment.BillingType]payment.Minor{}
		for _, o := range offers {
			seen[o.Terms.BillingType] = o.Terms.DueMinor()
		}
		want := map[payment.BillingType]payment.Minor{payment.OneOff: 1990, payment.Recurring: 2999, payment.TrialRecurring: 100}
		for kind, due := range want {
			if seen[kind] != due {
				t.Errorf("%s is due with %s, want %s", kind, seen[kind], due)
			}
		}
	})
	t.Run("names campaigns of both modes", func(t *testing.T) {
		t.Parallel()
		hosted, server := campaigns[DemoHostedCampaignID], campaigns[DemoServerCampaignID]
		if hosted.HostedPageID == nil || server.ID != DemoServerCampaignID || server.HostedPageID != nil {
			t.Errorf("hosted %+v, server %+v", hosted, server)
		}
		if hosted.GatewayID != DemoGatewayID || demo.Gateways[0].Record.ID != DemoGatewayID {
			t.Error("the named gateway is not the one used")
		}
	})
}
