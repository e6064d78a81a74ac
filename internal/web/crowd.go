package web

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const overloadDetail = "The service is overloaded. Try again in a moment."

// What all who are turned away are told, made once: they come by the thousand when there is the least time for them.
var (
	overloadBody = func() []byte {
		text, _ := json.Marshal(errorBody{Detail: overloadDetail, StatusCode: http.StatusServiceUnavailable}) // two plain fields
		return append(text, '\n')
	}()
	overloadLength, jsonType, notStored = []string{strconv.Itoa(len(overloadBody))}, []string{"application/json"}, []string{"no-store"}
)

// TurnAway answers a request that is not begun, as WriteError would.
func TurnAway(w http.ResponseWriter, r *http.Request, err error) error {
	describeOverload(w.Header(), r, err)
	describeTurningAway(w.Header())
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(overloadBody) // a client that has gone cannot be told so
	return nil
}

func describeTurningAway(header http.Header) {
	header["Content-Type"], header["Content-Length"], header["Cache-Control"] = jsonType, overloadLength, notStored
}

// Crowd counts requests that were turned away. There are thousands of them when there is the least time to write about
// each: all of a second share a line.
type Crowd struct {
	Logger *slog.Logger
	// Count is told of each; nil when nobody counts.
	Count func()

	mu    sync.Mutex
	count int
}

func (c *Crowd) add() {
	if c.Count != nil {
		c.Count()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count++; c.count == 1 {
		time.AfterFunc(time.Second, c.tell)
	}
}

func (c *Crowd) tell() {
	c.mu.Lock()
	count := c.count
	c.count = 0
	c.mu.Unlock()
	c.Logger.Warn("requests turned away: they could not have been answered in time", slog.Int("count", count))
}
