// Package notice writes to payers before their accounts are debited.
//
//	mail.go     whether a payment that is announced has a mail, and which
//	letter      what a mail says, in the payer's language and the looks of the payment page
//	read.go     what a mail is about
//	server.go   the SMTP server: its address, how it is spoken to, and what its answers mean
//	outbox.go   mails in line are claimed, sent and recorded
//
// A mail's row is written in the unit that announces its collection, and is its own
// place in line. It holds nothing of the person: what the mail says is read from the
// payment when it is sent. A sender claims some mails for a time, sends each once and
// records what the server said. What is refused for now is tried again on a schedule,
// what is refused for good is kept and shown.
//
// Whether a mail was taken is not known where the connection broke after its text, or
// the sender died. It is sent once more then, and not a third time: every mail has one
// Message-ID for all of its tries, by which mail programs drop a repeat. Everything
// here follows real time, wherever the sandbox's clock is.
package notice
