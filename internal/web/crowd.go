package web

import (
	"log/slog"
	"sync"
	"time"
)

// crowd counts requests that were turned away. There are thousands of them when there is the least time to write about
// each: all of a second share a line.
type crowd struct {
	logger *slog.Logger

	mu    sync.Mutex
	count int
}

func (c *crowd) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count++; c.count == 1 {
		time.AfterFunc(time.Second, c.tell)
	}
}

func (c *crowd) tell() {
	c.mu.Lock()
	count := c.count
	c.count = 0
	c.mu.Unlock()
	c.logger.Warn("requests turned away: they could not have been answered in time", slog.Int("count", count))
}
