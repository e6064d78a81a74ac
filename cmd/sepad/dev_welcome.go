package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"

	"sepad/internal/config"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/merchant"
	"sepad/internal/people"
)

// welcome is what a developer needs to make the first payment. The commands run
// in any POSIX shell with curl; each paste is another customer, because one
// customer has one open session at a time.
const welcome = `
  sepad {version} · sandbox, no money moves · data in {data}

  API        {url}/api/v1/
  Docs       {url}/docs
  API key    {key}
  Webhooks   sepad listen --forward http://localhost:9000/hooks   signing secret {secret}
  Admin      {url}/admin/v1/   token {admin}
  Dashboard  {dashboard}
             (signs in once, within the hour)
{beyond}
  1. Create a session (server to server, 19.90 EUR):

TOKEN=$(curl -s {url}/api/v1/payment-sessions/ \
  -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \
  -d '{"campaign_id": "{server}", "lead": {"first_name": "Ada", "last_name": "Byron",
       "email": "ada.'"$(date +%s)"'@shop.example", "country": "DE"}}' \
  | grep -o 'ps_[A-Za-z0-9_-]*' | head -n 1); echo "$TOKEN"

  2. Pay it with a test IBAN (sepad test-ibans lists more):

curl -s "{url}/api/v1/payment-sessions/$TOKEN/pay/" -H 'Content-Type: application/json' \
  -d '{"iban": "{iban}", "iban_holder_name": "Ada Byron"}'; echo

  Sessions of campaign {hosted} are for the
  hosted page: send the payer to their payment_url. Ctrl-C stops.

`

func printWelcome(w io.Writer, cfg config.Config, data string, key merchant.Secret, secret string, dashboard people.Link) {
	fmt.Fprint(w, strings.NewReplacer(
		"{version}", programVersion(), "{data}", data, "{url}", cfg.PublicURL, "{key}", key.Reveal(),
		"{secret}", secret, "{admin}", cfg.AdminToken, "{dashboard}", dashboard.URL, "{server}", merchant.DemoServerCampaignID.String(),
		"{hosted}", merchant.DemoHostedCampaignID.String(), "{iban}", approvedIBAN(), "{beyond}", beyond(cfg.Listen),
	).Replace(welcome))
}

// beyond warns who lets others reach a sandbox whose doors are those of a developer's own machine.
func beyond(listen string) string {
	host, _, _ := net.SplitHostPort(listen) // it was listened on
	address, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && address.Unmap().IsLoopback() {
		return ""
	}
	return "\n  Beyond     " + listen + ` is reached from other machines. There /metrics and the sandbox's bank are
             open to everybody, and whoever has a key may have webhooks sent within your
             network. For others run sepad serve behind TLS.
`
}

// approvedIBAN is the first test account whose payments go through.
func approvedIBAN() string {
	for _, test := range sandbox.TestIBANs() {
		if test.Outcome == sandbox.Approved {
			return test.IBAN
		}
	}
	return ""
}
