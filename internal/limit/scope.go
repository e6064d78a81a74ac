package limit

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Scope is a kind of call that has a rate of its own.
type Scope string

const (
	APIKeyCreate         Scope = "api_key_create"
	APIKeyCancel         Scope = "api_key_cancel"
	APIKeyReconciliation Scope = "api_key_reconciliation"
	APIKeyManage         Scope = "api_key_manage"
	APIKeyEvents         Scope = "api_key_events"
	IBANValidate         Scope = "iban_validate"
	BrowserRead          Scope = "browser_read"
	BrowserPay           Scope = "browser_pay"
	BrowserVerify        Scope = "browser_verify"
	// APIKeyRead, APIKeyPay and APIKeyVerify stand for the browser scopes when
	// a merchant's server calls with its key: many payers share its address.
	APIKeyRead   Scope = "api_key_read"
	APIKeyPay    Scope = "api_key_pay"
	APIKeyVerify Scope = "api_key_verify"
	// Page is the loading of the hosted page.
	Page Scope = "page"
	// AuthFailure is asked after an authentication has failed, and only then:
	// it counts failures, and a valid key passes however many there were.
	AuthFailure Scope = "auth_failure"
)

// clientBits is how much of an IPv6 address tells clients apart: whoever has one
// address has the other 2^64 of its network too.
const clientBits = 64

// NameOf is how somebody is counted who is known by address alone.
func NameOf(address netip.Addr) string {
	if address.Is6() {
		network, err := address.Prefix(clientBits)
		if err == nil {
			return network.String()
		}
	}
	return address.String()
}

// Rates are the calls per second of each scope; 0 means any number.
type Rates map[Scope]int

var defaultRates = Rates{
	APIKeyCreate: 50, APIKeyCancel: 50, APIKeyReconciliation: 50, APIKeyManage: 50, APIKeyEvents: 10, IBANValidate: 50,
	BrowserRead: 1, BrowserPay: 1, BrowserVerify: 1,
	APIKeyRead: 50, APIKeyPay: 50, APIKeyVerify: 50,
	Page: 20, AuthFailure: 20,
}

// DefaultRates are the contract's rates and our own.
func DefaultRates() Rates { return maps.Clone(defaultRates) }

// Scopes lists every scope.
func Scopes() []Scope { return slices.Sorted(maps.Keys(defaultRates)) }

// SettingPrefix begins the names of the settings that change a scope's rate.
const SettingPrefix = "SEPAD_RATE_"

// Setting is the name of the setting that changes a scope's rate.
func (s Scope) Setting() string { return SettingPrefix + strings.ToUpper(string(s)) }

// highestRate keeps a slip of the keyboard from asking for all memory.
const highestRate = 1_000_000

// ParseRate reads a number of calls per second.
func ParseRate(text string) (int, error) {
	rate, err := strconv.Atoi(text)
	if err != nil || rate < 0 || rate > highestRate {
		return 0, fmt.Errorf("it is a number of requests per second from 0 (unlimited) to %d", highestRate)
	}
	return rate, nil
}
