// Package recon is reconciliation (contract 4.7): what finance people ask for,
// as pages of transactions, chargebacks or subscriptions in three formats.
//
// listing.go describes the three endpoints: names, filters, column table and
// where the rows come from. A request goes through
//
//	query.go    the parameters, every fault said at once; a cursor is opened here
//	page.go     one read of the store, and the addresses of the neighbouring pages
//	encode.go   headers aside, the whole text: encode_json, encode_xml, encode_csv
//
// A cursor (cursor.go) is a sealed position. It opens only for the tenant, the
// endpoint and the filters that it was made for.
//
// Import is the mirror of that (import.go): a processor's file is read line by
// line (import_csv, import_column, import_line) into batches. Payments are staged
// beside the transactions and taken in by comparing the two (import_write);
// chargebacks change what hangs on a payment, so that the domain decides on each
// and all of a batch are written together (import_chargeback). The comparison
// over a whole file is the matching report (match.go).
//
// The rows of one page are held, because the addresses before them depend on the
// last of them; their text is written piece by piece as it is made.
package recon
