// Package setup puts what an operator decides into the database: resource files,
// single changes and API keys.
//
// A change of a set-up is a function (Applier.Change in apply.go): it is given
// what the tenant has and replaces records in it. Around it stands what all
// changes share (plan.go): the set-up is read with its version, the function is
// run on a copy, every record that differs is completed (kind.go) and checked
// against the rest, the adapters and the ids of other tenants (check.go), and all
// differences are written in one unit that holds only if the version still does.
// Of two changes at once the later one is thrown away and run again on what the
// earlier one made, so that neither is lost.
//
// A resource file (Applier.Apply) is such a change too, of one or more tenants and
// their keys (plan_key.go): in force as a whole or not at all. Applied again it finds
// no difference and writes nothing. What it does not mention is left alone.
//
// What became of the records is told as one Change each, with the secrets that
// were made, which are seen this one time.
package setup
