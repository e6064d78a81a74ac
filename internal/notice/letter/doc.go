// Package letter puts a payment into the payer's words.
//
//	letter.go   which language, and what is said of the payment in it
//	texts*.go   the words of each language
//	render.go   the text and the HTML, in the looks of the payment page
//
// It sends nothing and reads nothing: what it is given is what it says.
package letter
