package sandbox

import (
	"time"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// Outcome names what happens to the payments of a test account.
type Outcome string

const (
	Approved                  Outcome = "approved"
	DeclinedInsufficientFunds Outcome = "declined_insufficient_funds"
	DeclinedInvalidIBAN       Outcome = "declined_invalid_iban"
	DeclinedMandateRejected   Outcome = "declined_mandate_rejected"
	DeclinedAccountClosed     Outcome = "declined_account_closed"
	DeclinedDoNotHonor        Outcome = "declined_do_not_honor"
	DeclinedUnknown           Outcome = "declined_unknown"
	DeclinedFinal             Outcome = "declined_final"
	GatewayUnavailable        Outcome = "gateway_unavailable"
	VerificationApproved      Outcome = "verification_approved"
	VerificationRejected      Outcome = "verification_rejected"
	VerificationPage          Outcome = "verification_page"
	PendingApproved           Outcome = "pending_approved"
	PendingDeclined           Outcome = "pending_declined"
	Chargeback                Outcome = "chargeback"
	ReturnedInsufficientFunds Outcome = "returned_insufficient_funds"
	ReturnedMandateRejected   Outcome = "returned_mandate_rejected"
	ReturnedAccountClosed     Outcome = "returned_account_closed"
	TimeoutApproved           Outcome = "timeout_approved"
	TimeoutLost               Outcome = "timeout_lost"
	Slow                      Outcome = "slow"
	RebillDeclinedOnce        Outcome = "rebill_declined_once"
	RebillDeclined            Outcome = "rebill_declined"
	RebillAccountClosed       Outcome = "rebill_account_closed"
)

const (
	settlementDelay = 24 * time.Hour
	chargebackDelay = 3 * 24 * time.Hour
)

// openingState is where a payment stands in the ledger once it has arrived. A
// rebill has a confirmed mandate already and is never sent to the bank page.
func (o Outcome) openingState(charge gateway.Charge) State {
	rebill := charge.Type == payment.Rebill
	switch o {
	case DeclinedInsufficientFunds, DeclinedInvalidIBAN, DeclinedMandateRejected, DeclinedAccountClosed,
		DeclinedDoNotHonor, DeclinedUnknown, DeclinedFinal:
		return StateDeclined
	case VerificationApproved, VerificationRejected, VerificationPage:
		if !rebill {
			return StateAwaiting
		}
	case PendingApproved, PendingDeclined:
		return StatePending
	case RebillDeclinedOnce:
		if rebill && charge.PeriodTry <= 1 {
			return StateDeclined
		}
	case RebillDeclined, RebillAccountClosed:
		if rebill {
			return StateDeclined
		}
	}
	return StateApproved
}

// settledState is where a pending payment ends.
func (o Outcome) settledState() State {
	if o == PendingDeclined {
		return StateDeclined
	}
	return StateApproved
}

// verifiedState is where the verify call takes a payment that awaits
// verification: nowhere when the payer decides on the bank page.
func (o Outcome) verifiedState() State {
	switch o {
	case VerificationApproved:
		return StateApproved
	case VerificationRejected:
		return StateDeclined
	default:
		return StateAwaiting
	}
}

// DecidedByPayer tells that the bank page takes the payer's decision. For the
// other verification outcomes it only shows what the verify call will say.
func (o Outcome) DecidedByPayer() bool { return o == VerificationPage }
