//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// rushKind is load of payers who come at a rate of their own, whether or not anybody is
// served: one who is refused comes again later, one who waits holds his connection.
// Without a rate it is as much as the connections bring about.
const rushKind = "rush"

const (
	// rushUp is not counted: queues fill, and connections are made.
	rushUp = time.Second
	// payerPatience is how long an answer is worth something.
	payerPatience = 4 * time.Second
	// rushTick is how often payers come.
	rushTick = time.Millisecond
	// rushMakers make the sessions beforehand.
	rushMakers = 32
)

// rush is what the callers of one round share.
type rush struct {
	job    *loadJob
	tokens chan string
	// due are the instants at which payers have come. Nobody who waits for a free
	// connection is forgotten: his time runs.
	due          chan time.Time
	opens, ended time.Time

	mu     sync.Mutex
	result loadResult
}

// rush pays for the time of the job and prints what came of it. Only what ends within
// that time counts, or those who still wait at its end would be work for nothing.
func (j *loadJob) rush(out io.Writer) error {
	// Callers who are refused should cost the machine as little as can be: they take turns on one thread, and nobody
	// has to wake another one for each answer.
	runtime.GOMAXPROCS(1)
	if j.Processor != nil {
		if err := stayOn(*j.Processor); err != nil {
			return err
		}
	}
	r := &rush{job: j, tokens: make(chan string, j.Count), due: make(chan time.Time, int(j.Rate))}
	if err := r.stock(); err != nil {
		return err
	}
	callers, err := j.connect(j.Connections)
	if err != nil {
		return err
	}
	r.opens = time.Now().Add(rushUp)
	r.ended = r.opens.Add(time.Duration(j.Seconds * float64(time.Second)))
	go r.come()
	weighed := make(chan struct{})
	go func() { defer close(weighed); r.weigh() }()
	failures := together(callers, r.serve)
	<-weighed
	r.result.Seconds = j.Seconds
	return errors.Join(errors.Join(failures...), json.NewEncoder(out).Encode(r.result))
}

// stock makes the sessions.
func (r *rush) stock() error {
	makers, err := r.job.connect(rushMakers)
	if err != nil {
		return err
	}
	return errors.Join(together(makers, func(c *caller) error {
		defer c.client.connection.Close()
		for range r.job.Count / rushMakers {
			token, err := c.createSession()
			if err != nil {
				return err
			}
			r.tokens <- token
		}
		return nil
	})...)
}

// come has payers come at the rate, or whenever a connection is free.
func (r *rush) come() {
	defer close(r.due)
	if r.job.Rate == 0 {
		for end := time.After(time.Until(r.ended)); ; {
			select {
			case r.due <- time.Time{}:
			case <-end:
				return
			}
		}
	}
	began, sent := time.Now(), 0
	for tick := time.NewTicker(rushTick); ; {
		now := <-tick.C
		if now.After(r.ended) {
			return
		}
		for ; sent < int(r.job.Rate*now.Sub(began).Seconds()); sent++ {
			select {
			case r.due <- now:
			default: // nobody keeps up with them: the result shows it
			}
		}
	}
}

// weigh notes what the server and its callers take of the processors in the time that counts.
func (r *rush) weigh() {
	time.Sleep(time.Until(r.opens))
	server, callers := processorTime(r.job.Server), ownProcessorTime()
	time.Sleep(time.Until(r.ended))
	server, callers = processorTime(r.job.Server)-server, ownProcessorTime()-callers
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.ServerTime, r.result.CallerTime = server, callers
}

// serve is one connection.
func (r *rush) serve(c *caller) error {
	for came := range r.due {
		now := time.Now()
		if now.After(r.ended) {
			return nil
		}
		if came.IsZero() {
			came = now
		}
		var token string
		select {
		case token = <-r.tokens:
		default:
			return errors.New("there are no sessions left to pay")
		}
		status, err := c.payOnce(token)
		if status == http.StatusServiceUnavailable {
			r.tokens <- token
		}
		r.note(came, time.Now(), status, err)
		if c.client.isBroken {
			return nil
		}
	}
	return nil
}

func (r *rush) note(came, now time.Time, status int, err error) {
	if now.Before(r.opens) || now.After(r.ended) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Due++
	switch {
	case status == http.StatusServiceUnavailable:
		r.result.Refused++
	case err != nil:
		if r.result.Errors++; r.result.Trouble == "" {
			r.result.Trouble = err.Error()
		}
	case now.Sub(came) > payerPatience:
		r.result.Late++
	default:
		r.result.Requests++
	}
}

// payOnce pays a session, or is refused.
func (c *caller) payOnce(token string) (status int, err error) {
	request := append(append(c.client.buffer[:0], "POST "+sessionsPath...), token...)
	request = append(append(request, "/pay/ HTTP/1.1\r\nHost: "...), c.client.host...)
	request = append(request, "\r\nContent-Type: application/json\r\nX-Forwarded-For: 10"...)
	for n, shift := c.job.addresses.Add(1), 16; shift >= 0; shift -= 8 {
		request = strconv.AppendUint(append(request, '.'), uint64(byte(n>>shift)), 10)
	}
	request = append(request, rushEnd...)
	c.client.buffer = request
	status, answer, err := c.client.ask(request)
	if err != nil {
		c.client.isBroken = true
		return 0, err
	}
	if status != http.StatusOK || !bytes.Contains(answer, []byte(`"status":"completed"`)) {
		err = fmt.Errorf("answered %d: %s", status, answer)
	}
	return status, err
}

// rushEnd is the same for all payers.
var rushEnd = fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(rushBody), rushBody)

const rushBody = `{"iban":"` + approvedIBAN + `","iban_holder_name":"Erika Mustermann"}`
