package sandbox_test

import (
	"testing"

	"github.com/google/uuid"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgertest"
)

func TestMemoryLedger(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t,
		func(*testing.T) sandbox.Ledger { return sandbox.NewMemoryLedger() },
		func(*testing.T, sandbox.Ledger) sandbox.Key {
			return sandbox.Key{TenantID: uuid.New(), AccountID: uuid.New(), MerchantTransactionID: "TXN-20260302-ABCDEFGH"}
		})
}
