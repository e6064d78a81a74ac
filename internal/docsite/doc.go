// Package docsite is the documentation: guides, references and a search, served
// at /docs/ and written as static files.
//
// The flow: Build takes what the repository has (Sources) and makes every file
// of the site. chapters.go says which pages there are and in which order. A
// guide is Markdown (markdown.go; highlight.go colours its code). A reference
// is made of an OpenAPI document: node.go reads it, reference.go gathers its
// operations, schema.go its fields, example.go its bodies, sample.go writes the
// calls in several languages. search.go makes the index that the reader's own
// browser searches. handler.go serves the files.
//
// Every address within the site is relative, and nothing is asked of another
// host: the same files work behind this process, on any static host and from a
// folder. Pages read the same with scripts switched off.
package docsite
