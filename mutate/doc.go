// Command mutate changes the program in small ways that should break a rule, and
// tells which of them no test notices.
//
// All mutants of a package are compiled at once: find.go and sql.go look for places,
// and instrument.go writes a copy of the sources in which each place asks whether its
// mutant is the one that is switched on, and has the go command build the near tests
// from that copy, so that the tree is not touched. run.go first runs every test alone to
// learn which mutants it comes by, then every mutant with the tests that do. further.go
// tries what survives these with the tests of all packages that use the mutant's. What
// still survives is printed with its change; equivalent.txt names those that change
// nothing, with the reason.
//
// Ready-made tools test a mutant with its own package alone, build once for each
// mutant, and know nothing of rules that are written in SQL or of statements left out.
package main
