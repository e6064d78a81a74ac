package db

import (
	"runtime"
	"sync"
	"time"
)

// gatherer serves requests that come at the same time together. None waits for
// others to come: one that finds a free lane is served at once. While every lane
// is busy requests gather, and the next free lane takes them all. An idle service
// is as quick as without it, and a busy one asks less often the busier it is.
type gatherer[T any] struct {
	// serve answers a group; all of it was added before serve begins.
	serve func(group []T)
	// lanes is how many groups may be under way, size how many fit into one.
	lanes, size int
	// spare is how many more may be under way while the lanes are held up: when none
	// has taken a group for as long as patience.
	spare    int
	patience time.Duration

	mu      sync.Mutex
	waiting []T
	busy    int
	taken   int
	// isWatched tells that somebody looks after patience whether anything has moved.
	isWatched bool
}

// add has a request served. How it is answered is a matter between it and serve.
func (g *gatherer[T]) add(request T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, request)
	if g.busy < g.lanes {
		g.busy++
		go g.drive()
	} else {
		g.watch()
	}
}

// drive is a lane: it serves until nothing is left. Those who are about to come go first: who is alone loses nothing by
// that, and a busy lane asks for a fifth more of them at once.
func (g *gatherer[T]) drive() {
	runtime.Gosched()
	for group := g.next(); len(group) > 0; group = g.next() {
		g.serve(group)
		runtime.Gosched()
	}
}

// next takes what has gathered; a lane that finds nothing is free.
func (g *gatherer[T]) next() []T {
	g.mu.Lock()
	defer g.mu.Unlock()
	count := min(len(g.waiting), g.size)
	if count == 0 {
		g.busy--
		return nil
	}
	group := g.waiting[:count:count]
	g.waiting = g.waiting[count:]
	g.taken++
	return group
}

// watch has a spare lane opened if nothing is taken within patience.
func (g *gatherer[T]) watch() {
	if g.isWatched || len(g.waiting) == 0 || g.busy >= g.lanes+g.spare {
		return
	}
	g.isWatched = true
	taken := g.taken
	time.AfterFunc(g.patience, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.isWatched = false
		if len(g.waiting) > 0 && g.taken == taken {
			g.busy++
			go g.assist()
		}
		g.watch()
	})
}

// assist is a spare lane: it serves one group, and leaves the rest to the others.
func (g *gatherer[T]) assist() {
	if group := g.next(); len(group) > 0 {
		g.serve(group)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.busy--
		g.watch()
	}
}
