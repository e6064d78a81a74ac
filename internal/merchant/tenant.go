package merchant

import "github.com/google/uuid"

// Environment is what a deployment is for. One deployment is one environment.
type Environment string

const (
	Sandbox    Environment = "sandbox"
	Production Environment = "production"
)

// Valid tells whether the environment is one that exists.
func (e Environment) Valid() bool { return e == Sandbox || e == Production }

// Tenant is a merchant. Number is its short name inside session tokens.
type Tenant struct {
	ID       uuid.UUID
	Number   uint32
	Name     string
	Creditor Creditor
}

// Creditor is whom the payer's mandate names. Its zero value means that the
// tenant has given none.
type Creditor struct {
	Name       string
	Address    string
	Identifier string
}
