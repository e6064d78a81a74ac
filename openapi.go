// Package sepad holds what describes the whole program and belongs to no one
// package of it: the merchant API's document, which the service serves and
// which the tests hold every answer against, the operators' one, and the texts beside
// them.
package sepad

import "embed"

// OpenAPI is the merchant API's document (OpenAPI 3.1). It is written by hand:
// docs/contract.md says what it must say.
//
//go:embed openapi.yaml
var OpenAPI []byte

// AdminAPI is the operators' API's document, beside it.
//
//go:embed openapi-admin.yaml
var AdminAPI []byte

// Documents are the texts that the documentation site is made of, by their paths.
//
//go:embed docs/guides/*.md docs/contract.md docs/states.md docs/reason-codes.md docs/operations.md docs/rights.md
//go:embed docs/metrics-and-logs.md docs/security.md docs/gateways.md docs/performance.md docs/scaling.md docs/images/*.png CHANGELOG.md
var Documents embed.FS
