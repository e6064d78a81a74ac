package webhook

import "sepad/internal/store"

// maxOfTenant is how many endpoints of a tenant a process drains at a time, so that there is room for others. A tenant may
// have ten thousands of them, and each takes memory, a connection and turns at the database for as long as its receiver
// says nothing.
const maxOfTenant = maxInFlightTotal / 2

// line is what a process does for a tenant: how many of its endpoints are drained, and which wait for one to end.
type line struct {
	active  int
	waiting []store.Endpoint
}

// begin drains an endpoint, at once or when it is its turn among those of its tenant. The deliverer is locked.
func (d *Deliverer) begin(e store.Endpoint, w *worker) {
	l := d.tenants[e.TenantID]
	if l == nil {
		l = &line{}
		d.tenants[e.TenantID] = l
	}
	if l.active >= d.places {
		w.inLine = true
		l.waiting = append(l.waiting, e)
		return
	}
	l.active++
	d.active++
	w.running, w.inLine = true, false
	d.group.Go(func() { d.work(e, w) })
}

// end lets the next endpoint of the tenant begin, unless the process ends: another one, or the next start, finds it by its
// rows. The deliverer is locked.
func (d *Deliverer) end(e store.Endpoint, w *worker) {
	w.running = false
	d.active--
	l := d.tenants[e.TenantID]
	l.active--
	if len(l.waiting) > 0 && !d.stopped {
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		d.begin(next, d.endpoints[next])
	} else if l.active == 0 {
		delete(d.tenants, e.TenantID)
	}
}
