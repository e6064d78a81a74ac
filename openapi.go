// Package sepad holds what describes the whole program and belongs to no one
// package of it: the merchant API's document, which the service serves and
// which the tests hold every answer against, and the guides beside it.
package sepad

import "embed"

// OpenAPI is the merchant API's document (OpenAPI 3.1). It is written by hand:
// docs/contract.md says what it must say.
//
//go:embed openapi.yaml
var OpenAPI []byte

// Guides are the texts of docs/guides, which /docs links.
//
//go:embed docs/guides/*.md
var Guides embed.FS
