// Package iso20022 writes and reads the messages that a merchant and its bank exchange as files.
//
// Out go collections (pain.008, NewDebits) and credit transfers (pain.001, NewTransfers). Both are written as a stream:
// a header that states count and sum, blocks that state theirs, then one payment after the other; Close refuses a
// message whose payments are not what its headers said. Text is brought into the characters of the scheme by Latin, and
// Faults says of a payment, before anything is written, what a bank would refuse.
//
// In come status reports (pain.002) and account reports, statements and notifications (camt.052, .053, .054) through
// Read. Banks break the standard, so nothing is refused for its schema, namespace or version: elements are matched by
// their local names, what is missing stays empty, and an entry that cannot be understood is handed on with the reason.
// Read decides what a line is (money collected, a debit that came back, a transfer, something else), never what follows.
//
// The package is pure. It knows nothing of sessions, transactions or gateways.
package iso20022
