package storetest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"sepad/internal/payment"
)

// Tables by name and columns, in the order of the rows below.
const (
	transactionTable = `transactions: tenant_id id order_id subscription_id lead_id gateway_id merchant_transaction_id
		tenant_reference_id gateway_reference status type amount_minor currency source iban_masked bic holder_name email
		mandate_reference mandate_at processed_at created_at updated_at iban_country sequence_type iban_sealed bank_name
		verification_url verification_reference decline_code decline_message gateway_code gateway_message attempt_number
		lookup_count`
	chargebackTable = `chargebacks: tenant_id id transaction_id lead_id gateway_id merchant_transaction_id
		tenant_reference_id gateway_reference amount_minor currency reported_at transaction_at reason_code reason_message
		report_type report_message report_info arn iban_masked bic email country source bank_fee_minor created_at updated_at`
	subscriptionTable = `subscriptions: tenant_id id order_id lead_id offer_id gateway_id status amount_minor currency
		billing_frequency started_at next_billing_date trial_end_date billing_anchor_date last_billed_at cancelled_at
		successful_count failed_count revenue_minor created_at updated_at session_id mandate_reference iban_sealed`
	sessionTable = `sessions: tenant_id id token lead_id status price_minor currency billing_type billing_frequency trial_unit
		trial_period gateway_id acceptance_mode mandate_reference customer_ip max_attempts attempts_used holds_lead expires_at
		created_at updated_at`
)

// InsertTransactions writes transactions as they are, past the store: listings
// want thousands of them, and none of what would have to happen before. Their
// orders, subscriptions and leads need not exist.
func (e *Env) InsertTransactions(t testing.TB, rows []payment.Transaction) {
	t.Helper()
	e.bulk(t, transactionTable, len(rows), func(i int) []any {
		r := &rows[i]
		row := []any{
			r.TenantID.String(), r.ID.String(), idText(r.OrderID), idText(r.SubscriptionID), idText(r.LeadID),
			r.GatewayID.String(), r.MerchantTransactionID, r.TenantReferenceID, r.GatewayReference, string(r.Status),
			string(r.Type), int64(r.AmountMinor), r.Currency, string(r.Source), r.MaskedIBAN, r.BIC, r.HolderName, r.Email,
			r.MandateReference, microsOf(r.MandateAt), microsOf(r.ProcessedAt), microsOf(r.CreatedAt), microsOf(r.UpdatedAt),
		}
		for range 10 { // what no record shows
			row = append(row, "")
		}
		return append(row, int64(1), int64(0))
	})
}

// InsertChargebacks writes chargebacks as they are.
func (e *Env) InsertChargebacks(t testing.TB, rows []payment.Chargeback) {
	t.Helper()
	e.bulk(t, chargebackTable, len(rows), func(i int) []any {
		r := &rows[i]
		return []any{
			r.TenantID.String(), r.ID.String(), idText(r.TransactionID), idText(r.LeadID), r.GatewayID.String(),
			r.MerchantTransactionID, r.TenantReferenceID, r.GatewayReference, int64(r.AmountMinor), r.Currency,
			microsOf(r.ReportedAt), microsOf(r.TransactionAt), r.ReasonCode, r.ReasonMessage, r.ReportType, r.ReportMessage,
			r.ReportInfo, r.ARN, r.MaskedIBAN, r.BIC, r.Email, r.Country, string(r.Source), (*int64)(r.BankFeeMinor),
			microsOf(r.CreatedAt), microsOf(r.UpdatedAt),
		}
	})
}

// InsertSubscriptions writes subscriptions as they are.
func (e *Env) InsertSubscriptions(t testing.TB, rows []payment.Subscription) {
	t.Helper()
	e.bulk(t, subscriptionTable, len(rows), func(i int) []any {
		r := &rows[i]
		return []any{
			r.TenantID.String(), r.ID.String(), r.OrderID.String(), r.LeadID.String(), idText(r.OfferID), r.GatewayID.String(),
			string(r.Status), int64(r.AmountMinor), r.Currency, string(r.Frequency), microsOf(r.StartedAt),
			dateText(r.NextBillingDate), dateText(r.TrialEndDate), r.AnchorDate.String(), microsOf(r.LastBilledAt),
			microsOf(r.CancelledAt), int64(r.SuccessfulCount), int64(r.FailedCount), int64(r.RevenueMinor),
			microsOf(r.CreatedAt), microsOf(r.UpdatedAt), r.SessionID.String(), r.MandateReference, "",
		}
	})
}

// InsertSessions writes sessions as they are, none of which holds its lead.
func (e *Env) InsertSessions(t testing.TB, rows []payment.Session) {
	t.Helper()
	var holdsLead any = false
	if e.Engine == "sqlite" {
		holdsLead = 0
	}
	e.bulk(t, sessionTable, len(rows), func(i int) []any {
		r := &rows[i]
		return []any{
			r.TenantID.String(), r.ID.String(), r.Token, r.LeadID.String(), string(r.Status), int64(r.Terms.PriceMinor), r.Terms.Currency,
			string(r.Terms.BillingType), string(r.Terms.Frequency), "", int64(0), r.GatewayID.String(), "", r.MandateReference, "",
			int64(r.MaxAttempts), int64(r.AttemptsUsed), holdsLead, microsOf(r.ExpiresAt), microsOf(r.CreatedAt), microsOf(r.CreatedAt),
		}
	})
}

func idText(id *uuid.UUID) any {
	if id == nil {
		return nil
	}
	return id.String()
}

func microsOf(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

func dateText(d payment.Date) any {
	if d.IsZero() {
		return nil
	}
	return d.String()
}

// bulk writes rows without looking at what they refer to.
func (e *Env) bulk(t testing.TB, table string, count int, row func(int) []any) {
	t.Helper()
	name, list, _ := strings.Cut(table, ":")
	columns := strings.Fields(list)
	db := e.DB(t)
	defer db.Close()
	connection, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if e.Engine == "sqlite" {
		err = bulkSQLite(t.Context(), connection, name, columns, count, row)
	} else {
		err = connection.Raw(func(driver any) error {
			return bulkPostgres(t.Context(), driver.(*stdlib.Conn).Conn(), name, columns, count, row)
		})
	}
	if err != nil {
		t.Fatalf("fill %s: %v", name, err)
	}
}

func bulkSQLite(ctx context.Context, db *sql.Conn, table string, columns []string, count int, row func(int) []any) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	places := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES ("+places+")")
	if err != nil {
		return err
	}
	for i := range count {
		if _, err := insert.ExecContext(ctx, row(i)...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func bulkPostgres(ctx context.Context, db *pgx.Conn, table string, columns []string, count int, row func(int) []any) error {
	if _, err := db.Exec(ctx, "SET session_replication_role = replica"); err != nil {
		return err
	}
	_, err := db.CopyFrom(ctx, pgx.Identifier{table}, columns,
		pgx.CopyFromSlice(count, func(i int) ([]any, error) { return row(i), nil }))
	return err
}
