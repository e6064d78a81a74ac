package page

import "sepad/internal/payment"

// stage is what the page shows of a session. Its names reach the script.
type stage string

const (
	stagePay        stage = "pay"
	stageProcessing stage = "processing"
	stageVerify     stage = "verify"
	stagePaid       stage = "paid"
	stagePending    stage = "pending"
	stageRefunded   stage = "refunded"
	stageReturned   stage = "returned"
	stageFailed     stage = "failed"
	stageExpired    stage = "expired"
	stageCancelled  stage = "cancelled"
)

// stage tells where a payer stands. A question to the gateway that is open
// hides everything else: until it is answered nothing can be promised.
func (v visit) stage() stage {
	switch {
	case v.Session.InFlight():
		return stageProcessing
	case v.Status == payment.SessionPending:
		return stagePay
	case v.Status == payment.SessionAwaiting:
		if !v.Session.ExpiresAt.After(v.now) {
			return stageProcessing // its time is over, and the gateway is being asked
		}
		return stageVerify
	case v.Status == payment.SessionCompleted:
		return v.settledStage()
	case v.Status == payment.SessionFailed:
		return stageFailed
	case v.Session.Status == payment.SessionExpired && v.Session.UpdatedAt.Before(v.Session.ExpiresAt):
		return stageCancelled // ended before its time: only the merchant does that
	default:
		return stageExpired
	}
}

// settledStage tells what has become of a payment that was accepted.
func (v visit) settledStage() stage {
	switch v.last.Transaction.Status {
	case payment.TransactionPending:
		return stagePending
	case payment.TransactionDeclined:
		return stageFailed // accepted at first, refused later
	case payment.TransactionRefunded:
		return stageRefunded
	case payment.TransactionChargedBack:
		return stageReturned
	default:
		return stagePaid
	}
}
