package merchant

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

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
	Notices  Notices
	// AllowedOrigins are the sites whose pages may call from browsers; none admits all.
	AllowedOrigins Origins
}

// Origins are origins of web pages, such as https://shop.example, separated by blanks:
// that is how they are stored and compared.
type Origins string

// NewOrigins writes a list down.
func NewOrigins(list []string) Origins { return Origins(strings.Join(list, " ")) }

// List takes them apart.
func (o Origins) List() []string { return strings.Fields(string(o)) }

// Admit tells whether pages of an origin may call.
func (o Origins) Admit(origin string) bool { return o == "" || slices.Contains(o.List(), origin) }

// Notices are the mails that a tenant's payers get before their accounts are
// debited. Their zero value means none.
type Notices struct {
	// Sender is whose mails they are, ReplyTo where answers go, "" for the sender:
	// addresses, with a name or without.
	Sender, ReplyTo string
	Send            SendNotices
}

// SendNotices is of which collections payers are told by mail.
type SendNotices string

const (
	SendAll SendNotices = "all"
	// SendFirstAndChanges: the first one, and those whose amount or day is not the
	// regular one.
	SendFirstAndChanges SendNotices = "first_and_changes"
	SendNone            SendNotices = "none"
)

// Sends tells whether there are mails at all.
func (n Notices) Sends() bool { return n.Sender != "" && n.Send != SendNone }

// Creditor is whom the payer's mandate names. Its zero value means that the
// tenant has given none.
type Creditor struct {
	Name       string
	Address    string
	Identifier string
}
