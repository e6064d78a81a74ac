//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// loadCommand is the argument with which this program makes load.
const loadCommand = "load"

// loadJob tells the load process what to do. It ends after Seconds, or after
// Count requests when Seconds is 0.
type loadJob struct {
	Kind        string
	Address     string
	Connections int
	Seconds     float64
	Count       int
	Merchants   []merchant
	// Paths are the pages that are asked for, Cookie who asks where no key does, Bodies what is posted.
	Paths  []string
	Cookie string
	Bodies []string
	// Rate is how many requests a second are due in a rush, 0 for as many as Connections bring about.
	Rate float64
	// Server is the process that is called in a rush, Processor the one on which the callers stay, if they do.
	Server    int
	Processor *int

	// addresses counts the clients that requests have come from.
	addresses *atomic.Uint32
}

// loadResult is what the load process prints.
type loadResult struct {
	Requests int
	Errors   int
	Trouble  string
	Seconds  float64
	// Of a rush: how many were due, refused at once, and answered too late.
	Due, Refused, Late int
	// What the server and those who call it took of the processors meanwhile.
	ServerTime, CallerTime time.Duration
	// Half and Most are within how many milliseconds half of the requests were
	// answered, and 99 of 100.
	Half, Most float64
	took       []float64
}

// caller is one connection's worth of load.
type caller struct {
	job      *loadJob
	number   int
	client   *client
	random   *rand.Rand
	sequence int
	tokens   []string // sessions that are waiting to be paid
}

// loadKind is a kind of request. Prepare is not measured.
type loadKind struct {
	prepare func(*caller) error
	request func(*caller) error
}

// loadKinds are what rows may ask for.
var loadKinds = map[string]loadKind{
	"page":    {prepare: (*caller).widenReader, request: (*caller).readPage},
	"read":    {prepare: (*caller).widenReader, request: (*caller).readOnce},
	"create":  {request: func(c *caller) error { _, err := c.createSession(); return err }},
	"pay":     {prepare: (*caller).createSessions, request: (*caller).payNext},
	"record":  {request: (*caller).createRecord},
	"webhook": {request: (*caller).postSigned},
}

// load runs a job in a process of its own and gives requests per second.
func load(ctx context.Context, job loadJob) (sample, error) {
	result, err := runLoad(ctx, job)
	return result.sample(), err
}

func runLoad(ctx context.Context, job loadJob) (result loadResult, err error) {
	self, err := os.Executable()
	if err != nil {
		return result, err
	}
	task, err := json.Marshal(job)
	if err != nil {
		return result, err
	}
	command := exec.CommandContext(ctx, self, loadCommand)
	command.Stdin = bytes.NewReader(task)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return result, fmt.Errorf("making load: %w", err)
	}
	return result, json.Unmarshal(output, &result)
}

func (r loadResult) sample() sample {
	return sample{figure: float64(r.Requests) / r.Seconds, errors: r.Errors, trouble: r.Trouble, half: r.Half, most: r.Most}
}

// makeLoad is the load process: it reads a job and prints the result.
func makeLoad(in io.Reader, out io.Writer) error {
	var job loadJob
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return err
	}
	// Rounds follow one another within a second: they must not begin alike.
	job.addresses = &atomic.Uint32{}
	job.addresses.Store(rand.Uint32())
	if job.Kind == rushKind {
		return job.rush(out)
	}
	kind, ok := loadKinds[job.Kind]
	if !ok {
		return fmt.Errorf("there is no load %q", job.Kind)
	}
	callers, err := job.connect(job.Connections)
	if err != nil {
		return err
	}
	if kind.prepare != nil {
		if err := errors.Join(together(callers, kind.prepare)...); err != nil {
			return err
		}
	}
	return json.NewEncoder(out).Encode(job.run(callers, kind.request))
}

func (j *loadJob) connect(count int) ([]*caller, error) {
	callers := make([]*caller, count)
	for i := range callers {
		connection, err := dial(j.Address)
		if err != nil {
			return nil, err
		}
		callers[i] = &caller{
			job: j, number: i, client: connection, random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		}
	}
	return callers, nil
}

// together lets all callers act at once and waits for the last.
func together(callers []*caller, act func(*caller) error) []error {
	failures := make([]error, len(callers))
	var all sync.WaitGroup
	for i, c := range callers {
		all.Go(func() { failures[i] = act(c) })
	}
	all.Wait()
	return failures
}

// run makes the requests. What fails is counted and not tried again.
func (j *loadJob) run(callers []*caller, request func(*caller) error) loadResult {
	began := time.Now()
	deadline := began.Add(time.Duration(j.Seconds * float64(time.Second)))
	var mu sync.Mutex
	var total loadResult
	together(callers, func(c *caller) error {
		mine := c.repeat(request, deadline)
		mu.Lock()
		defer mu.Unlock()
		total.Requests += mine.Requests
		total.Errors += mine.Errors
		total.took = append(total.took, mine.took...)
		if total.Trouble == "" {
			total.Trouble = mine.Trouble
		}
		return nil
	})
	total.Seconds = time.Since(began).Seconds()
	total.Half, total.Most = quantile(total.took, middle), quantile(total.took, nearlyAll)
	return total
}

func (c *caller) repeat(request func(*caller) error, deadline time.Time) (mine loadResult) {
	goesOn := func() bool { return time.Now().Before(deadline) }
	if c.job.Seconds == 0 {
		goesOn = func() bool { return mine.Requests+mine.Errors < c.job.share() }
	}
	for goesOn() {
		began := time.Now()
		err := request(c)
		if err == nil {
			mine.took = append(mine.took, float64(time.Since(began).Microseconds())/1000)
			mine.Requests++
			continue
		}
		if mine.Errors++; mine.Trouble == "" {
			mine.Trouble = err.Error()
		}
		if c.client.isBroken {
			return mine
		}
	}
	return mine
}

// share is how many requests of a counted job fall to one caller.
func (j *loadJob) share() int { return j.Count / j.Connections }
