// Package dashboard is where operators work in the browser: /dashboard/, rendered by the
// server, at the address of the operators' API.
//
//	routes.go     every screen, on one line
//	gate.go       who is let in: cookie, rights, same origin; the way to sign in
//	render.go     the layout with its navigation; a page, an error, a redirect
//	assets.go     style and script
//	sign_in.go welcome.go  the ways in
//	account.go people.go   one's own tokens; everybody's access
//	audit.go      who did what
//	passkey.go provider.go  further ways in
//	setup*.go     what merchants set up: form.go fills in and reads forms about records,
//	              setup_forms.go has the fields of each kind
//	list.go lists.go export.go  lists: search, filters, columns, pages, files
//	object.go     a record with what belongs to it, what can be done and what happened
//	transaction.go subscription.go event.go mandate.go records.go  the records
//	matching.go   a processor's file against our records
//	preview.go    merchants' pages as payers meet them
//	take_in.go    processors' files are taken in
//	sandbox.go    test accounts, the clock, the last events
//
// A screen is added with
//
//  1. a file screen.go with its handler, func (d *Dashboard) showScreen(w, r) error, which
//     reads r, calls the use case that the admin API calls, and ends with
//     d.page(w, r, "screen", "Title", data) or, after a POST, d.redirect(w, r, "/dashboard/…", "Done.");
//  2. a template screens/screen.html, which defines "content" and gets .Data, .Who and .Path;
//  3. a line in routes.go (with a Label it stands in the navigation of whoever may see it)
//     and one in people.Rights. Without the latter the program does not start.
//
// A list is a value of the type list: its columns, its filters and the search that they
// make; a record's page is an objectView, and what can be done to it an action, which is
// shown to whoever has the right to its route.
//
// The handler finds who is asking with people.Who(r.Context()). That context bounds every
// read to the tenants of whoever asks, and names them in the audit trail; there is nothing
// more to check. An error that is returned becomes a page: a payment.Error's sentences, a
// 404, or a plain apology. Forms are read with readForm, are POSTed to routes of their own,
// and a POST from elsewhere never arrives. Nothing but our own style and script loads: no
// style or script within a page.
package dashboard
