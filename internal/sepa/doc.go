// Package sepa knows what an account number, a bank and a bank's answer mean in the Single Euro Payments Area.
//
// The flow of a payment touches it three times. What the payer typed goes through ParseIBAN, which gives either an IBAN
// (a value that prints itself masked, whatever it is printed with) or an IBANError with a sentence for the payer.
// The IBAN then answers the questions of the business: its country and InScheme (may it be debited at all), the bank's
// name and BIC from a Directory (embedded, or the operator's own file). Days later a bank's reason code comes back, and
// ReasonFor turns it into the normalised decline code that merchants see and into what follows for a subscription;
// NextBusinessDay tells when a collection settles.
//
// The package is pure: no clock, no network, no database. The embedded directory is written by directorygen, which
// "go generate ./internal/sepa" runs; NOTICE.md names its sources and their licences. reasonsdoc
// writes the table of reason codes into the docs.
package sepa

//go:generate go run sepad/internal/sepa/directorygen -out directory.tsv
