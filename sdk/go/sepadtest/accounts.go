package sepadtest

// Accounts of the sandbox by what happens to their payments; `sepad test-ibans` lists
// them with a sentence each.
const (
	Approved                  = "DE89370400440532013000"
	ApprovedAustrian          = "AT611904300234573201"
	DeclinedInsufficientFunds = "DE62370400440532013001"
	DeclinedInvalidIBAN       = "DE51370400440532013005"
	DeclinedMandateRejected   = "DE24370400440532013006"
	DeclinedAccountClosed     = "DE94370400440532013007"
	DeclinedDoNotHonor        = "DE67370400440532013008"
	DeclinedFinal             = "DE13370400440532013010"
	GatewayUnavailable        = "DE83370400440532013011"
	VerificationApproved      = "DE56370400440532013012"
	VerificationRejected      = "DE29370400440532013013"
	VerificationPage          = "DE02370400440532013014"
	PendingApproved           = "DE08370400440532013003"
	PendingDeclined           = "DE78370400440532013004"
	Chargeback                = "DE35370400440532013002"
	ReturnedInsufficientFunds = "DE07370400440532013021"
	TimeoutApproved           = "DE72370400440532013015"
	TimeoutLost               = "DE45370400440532013016"
	Slow                      = "DE18370400440532013017"
	RebillDeclinedOnce        = "DE88370400440532013018"
	RebillDeclined            = "DE61370400440532013019"
	RebillAccountClosed       = "DE34370400440532013020"
)
