// Package admin serves the operator's API, /admin/v1. Every call carries the
// admin token; without one set, the whole API is closed. Lists
// are paged by cursors (page.go). There are the log of webhook deliveries, the
// secrets of webhook profiles, and the sandbox's clock.
package admin
