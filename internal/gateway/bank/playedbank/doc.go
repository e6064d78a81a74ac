// Package playedbank plays the merchant's bank, so that collections can be tried without one.
//
// It takes a file of collections as a bank would: Take reads it strictly, in its own way and not with the reader or
// writer that we use ourselves, and refuses what a bank refuses: other versions, characters outside the scheme, sums
// that do not add up, days on which nothing settles, references that came twice, more than its limits. What is taken is
// answered by Answers, up to a moment: a status report at once, and later statements and notices of what came back, in
// the shape of one of several real banks. What becomes of a collection is decided by the test account that it debits.
//
// The package remembers nothing: the same file at the same moment gets the same answers.
package playedbank
