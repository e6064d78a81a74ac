// Package jobs does in the background what nobody waits for.
//
// What is due stands in rows of ours; the queue only wakes us, and tries again
// what failed. Runner starts the queue's workers with the periodic sweeps:
// outcomes that are not known, sessions that ran out, pending payments to be
// settled, webhook endpoints to be drained. These begin when the queue has a
// leader, which after a crash takes a while; so a start sweeps by itself what was
// left, and stays for the payments that may not be asked about yet. Advance moves
// the sandbox's clock through everything that falls due on the way.
package jobs
