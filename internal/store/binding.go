package store

import (
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/vault"
)

// What sealed texts are bound to. Each of these has its twin in SQL, by which texts
// are sealed anew (sealedColumns).

// BindIBAN binds an account number to the mandate by which it is debited. It is
// copied with the mandate, from a first payment to its subscription and on to the
// rebills; in the row of any other mandate it does not open.
func BindIBAN(tenantID uuid.UUID, mandateReference string) vault.Binding {
	return vault.Purpose(tenantID, "iban").In("mandate " + mandateReference)
}

// BindBankPart binds bytes of a bank's file to their place in it.
func BindBankPart(f BankFile, number int) vault.Binding {
	return vault.Purpose(f.TenantID, "bank_file").In("part " + f.ID.String() + " " + f.Draft + " " + strconv.Itoa(number))
}

// BindBankStatement binds bytes that a bank sent to their place.
func BindBankStatement(s BankStatement, number int) vault.Binding {
	return vault.Purpose(s.TenantID, "bank_file").In("statement " + s.ID.String() + " " + strconv.Itoa(number))
}

// BindBankLine binds the words of a line to its place in a bank's statement.
func BindBankLine(tenantID, statementID uuid.UUID, position int) vault.Binding {
	return vault.Purpose(tenantID, "bank_file").In("line " + statementID.String() + " " + strconv.Itoa(position))
}

// bindSecrets binds what a set-up record must not show.
func bindSecrets(tenantID uuid.UUID, record setupRecord) vault.Binding {
	return vault.Purpose(tenantID, record.kind+":"+record.id.String())
}

// bindCeremony binds what a device is asked to the link that its owner came by.
func bindCeremony(t Ticket) vault.Binding {
	return vault.Purpose(t.OperatorID, "ceremony").In("ticket " + t.Hash)
}

// bindTOTP binds the secret of a second factor to its operator, who has no tenant.
func bindTOTP(operatorID uuid.UUID) vault.Binding {
	return vault.Purpose(operatorID, "totp").In("operator " + operatorID.String())
}

// bindSessionToken and bindEventToken bind a session's token to where it is kept.
func bindSessionToken(tenantID, sessionID uuid.UUID) vault.Binding {
	return vault.Purpose(tenantID, "session_token").In("session " + sessionID.String())
}

func bindEventToken(tenantID, eventID uuid.UUID) vault.Binding {
	return vault.Purpose(tenantID, "session_token").In("event " + eventID.String())
}
