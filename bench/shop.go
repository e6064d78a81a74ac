//go:build unix

package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	shopTenants   = 8
	keysPerTenant = 64
	// recordPrefix begins all ids; the rest is a kind and the tenant's number.
	recordPrefix = "018f0000-0000-7000-8000-"
)

// shop is what the tenants of a run have set up. Each key may create 50
// sessions a second: there are so many that none comes near it.
type shop struct {
	path      string // the resource file
	Merchants []merchant
}

// merchant is one API key with the campaign that it sells.
type merchant struct {
	Key        string
	CampaignID string
}

// Kinds of records, as they stand in their ids.
const (
	kindTenant   = 0xa
	kindGateway  = 0xb
	kindOffer    = 0xe
	kindCampaign = 0xf
)

func recordID(kind, tenant int) string { return fmt.Sprintf("%s%04x%08x", recordPrefix, kind, tenant) }

// openShop writes the resource file of the run.
func (l *lab) openShop() (*shop, error) {
	if l.shop != nil {
		return l.shop, nil
	}
	s := &shop{path: filepath.Join(l.folder, "shop.yaml")}
	var text strings.Builder
	text.WriteString("tenants:\n")
	for tenant := 1; tenant <= shopTenants; tenant++ {
		keys := newKeys()
		for _, key := range keys {
			s.Merchants = append(s.Merchants, merchant{key, recordID(kindCampaign, tenant)})
		}
		writeTenant(&text, tenant, keys)
	}
	if err := os.WriteFile(s.path, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	l.shop = s
	return s, nil
}

func newKeys() []string {
	const randomBytes = 24
	keys := make([]string, keysPerTenant)
	for i := range keys {
		var random [randomBytes]byte
		_, _ = rand.Read(random[:]) // never fails
		keys[i] = "rk_test_" + base64.RawURLEncoding.EncodeToString(random[:])
	}
	return keys
}

// writeTenant sells a monthly subscription: paying for it writes every kind of
// row that a payment can. Nobody listens to events: delivering them would share
// the machine with the payments that are measured.
func writeTenant(text *strings.Builder, tenant int, keys []string) {
	fmt.Fprintf(text, "  - id: %s\n    name: Shop %d\n    api_keys:\n", recordID(kindTenant, tenant), tenant)
	for i, key := range keys {
		fmt.Fprintf(text, "      - {name: key-%d, key: %s}\n", i, key)
	}
	fmt.Fprintf(text, `    gateways:
      - {id: %[1]s, name: Sandbox, adapter: sandbox, test_mode: true, descriptor: SHOP}
    offers:
      - {id: %[2]s, name: Premium, price: "29.99", currency: EUR, billing_type: RECURRING, billing_frequency: MONTHLY}
    campaigns:
      - {id: %[3]s, name: Spring, offer_id: %[2]s, gateway_id: %[1]s}
`, recordID(kindGateway, tenant), recordID(kindOffer, tenant), recordID(kindCampaign, tenant))
}
