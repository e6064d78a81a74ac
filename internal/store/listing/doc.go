// Package listing holds the lists of what lies in the store: those that merchants
// read page by page (list.go and what stands on it) and those in which operators
// look for something (search.go and search_list.go). Lists change nothing, and
// those that may be a little behind are read from a replica where there is one.
package listing
