// Package apidoc serves the merchant API's document and a page to read it.
//
// The flow: Handler keeps the document's bytes. The first reader of /docs makes
// it parse them (node.go), gather operations, errors and schemas into what the
// template needs (page.go, schema.go, example.go, prose.go) and render the page
// once; every later reader gets the same bytes. Everything comes from this
// process: stylesheets, icon and script are embedded, the page names no other
// host, and it reads the same with scripts switched off.
package apidoc
