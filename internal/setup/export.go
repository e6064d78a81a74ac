package setup

import (
	"sepad/internal/gateway"
	"sepad/internal/merchant"
)

// Export gives a resource file with all that a tenant has set up, for git or for another
// installation.
func Export(of *merchant.Setup, keys []merchant.APIKey, kinds map[string]gateway.Kind) ([]byte, error) {
	return merchant.WriteFile(of, keys, func(account merchant.GatewayAccount) (map[string]any, []string) {
		kind := kinds[account.Adapter]
		_, secrets := kind.Shown(account.Settings)
		return kind.Given(account.Settings), secrets
	})
}
