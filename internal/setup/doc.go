// Package setup puts what an operator writes down into the database: resource
// files and API keys.
//
// Apply (apply.go) works in three steps. It plans: each record of the file is
// held against what is stored (plan.go, plan_record.go, plan_key.go), and every
// mistake that only the database can show is added to one merchant.FileError.
// It writes: all differences in one unit of work, so that a file is in force as
// a whole or not at all. It tells: one Change per record, with the secrets that
// were made, which are seen this one time. A file that is applied again finds
// no difference and writes nothing. What a file does not mention is left alone.
//
// A plan that another writer has overtaken meets a key of the database, is
// thrown away and made again.
package setup
