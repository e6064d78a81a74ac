// Package design holds what every page of the product looks alike by: one
// stylesheet of tokens, with the colours, sizes and spaces that the pages' own
// styles are written in. Each page serves it beside its own files.
package design

import _ "embed"

// Tokens is the stylesheet.
//
//go:embed tokens.css
var Tokens []byte
