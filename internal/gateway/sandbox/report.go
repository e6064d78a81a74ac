package sandbox

import (
	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// report is how the sandbox would name things in files of its own.
var report = gateway.ReportFormat{
	Transactions: map[string]string{
		"merchant reference": "merchant_transaction_id", "reference": "adapter_unique_id", "state": "status",
		"value": "amount", "booked": "date_processed", "mandate": "mandate_reference_id",
		"payer": "customer_name_csv", "payer email": "customer_email_csv",
	},
	Chargebacks: map[string]string{
		"merchant reference": "merchant_transaction_id", "reference": "adapter_unique_id", "value": "amount",
		"reported": "report_date", "booked": "transaction_date", "reason": "reason_code", "fee": "cb_bank_fee",
	},
	Statuses: map[string]payment.TransactionStatus{
		"collected": payment.TransactionApproved, "refused": payment.TransactionDeclined, "open": payment.TransactionPending,
	},
}
