package gateway

import "sepad/internal/payment"

// ReportFormat says how a processor's CSV files name things. Columns lead from
// their names, in lower case, to fields of our records (contract 2.11, 2.12);
// what is not listed is looked for under the field's own name.
type ReportFormat struct {
	Transactions map[string]string
	Chargebacks  map[string]string
	// Statuses lead from the processor's words, in lower case, to ours.
	Statuses map[string]payment.TransactionStatus
}

// Report gives how an adapter's processor writes its files.
func (p *Pool) Report(adapter string) ReportFormat { return p.kinds[adapter].Report }
