// Package adapters is the list of gateways that sepad knows: one literal map
// from the name in the resource file to the adapter's kind. A new gateway is a
// folder beside sandbox and a line here.
package adapters

import (
	"sepad/internal/gateway"
	"sepad/internal/gateway/bank"
	"sepad/internal/gateway/sandbox"
)

// All gives every adapter by name. The sandbox remembers in the ledger; real
// gateways remember by themselves.
func All(ledger sandbox.Ledger, options sandbox.Options) map[string]gateway.Kind {
	return map[string]gateway.Kind{
		bank.Name:    bank.Kind(),
		sandbox.Name: sandbox.Kind(ledger, options),
	}
}
