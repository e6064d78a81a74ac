package web

import (
	"bytes"
	"net/http"
	"strings"

	"sepad/internal/door"
	"sepad/internal/payment"
)

// Doorman turns away before net/http what the routes' own handlers would turn away with TurnAway, in the same words: the
// calls that move money, while there is no room for them. Calls from somebody's page are let in, as their answers say
// which pages may read them; what a merchant's server sends is not from a page.
func (f Front) Doorman(routes []Route, isFull func() bool) door.Doorman {
	var payments []address
	for _, route := range routes {
		if route.Work == Payment {
			payments = append(payments, addressOf(route))
		}
	}
	before, after := f.refusal()
	return func(answer []byte, r door.Request) []byte {
		if r.FromPage || !isFull() {
			return answer
		}
		for _, to := range payments {
			if !to.matches(r) {
				continue
			}
			began := f.Clock.Now()
			answer = f.appendID(append(answer, before...), r)
			answer = began.UTC().AppendFormat(append(answer, "\r\nDate: "...), http.TimeFormat)
			f.Crowd.add()
			if f.Observe != nil {
				f.Observe(to.method, to.pattern, http.StatusServiceUnavailable, f.Clock.Now().Sub(began))
			}
			return append(answer, after...)
		}
		return answer
	}
}

// refusal is what all who are turned away hear, before and after what is their own.
func (f Front) refusal() (before, after []byte) {
	header := http.Header{}
	f.describe(header, "")
	header.Del("X-Request-Id")
	header.Set("Retry-After", retryAfter)
	describeTurningAway(header)
	text := bytes.NewBufferString("HTTP/1.1 503 Service Unavailable\r\n")
	_ = header.Write(text) // a buffer takes everything
	text.WriteString("X-Request-Id: ")
	return text.Bytes(), append([]byte("\r\n\r\n"), overloadBody...)
}

func (f Front) appendID(answer []byte, r door.Request) []byte {
	if id := string(r.ID); id != "" && f.isGiven(id, r.Peer) {
		return append(answer, id...)
	}
	return append(answer, payment.NewID().String()...)
}

// address is the path of a route, around the one part of it that is not always the same.
type address struct {
	method, pattern, before, after string
}

func addressOf(route Route) address {
	before, rest, _ := strings.Cut(route.Pattern, "{")
	_, after, _ := strings.Cut(rest, "}")
	return address{route.Method, route.Pattern, before, after}
}

// matches tells whether a request is for this route. What stands in it for a name must look like one; the rest is for the
// Mux to understand.
func (a address) matches(r door.Request) bool {
	if string(r.Method) != a.method || len(r.Path) <= len(a.before)+len(a.after) {
		return false
	}
	end := len(r.Path) - len(a.after)
	if string(r.Path[:len(a.before)]) != a.before || string(r.Path[end:]) != a.after {
		return false
	}
	return saneID(string(r.Path[len(a.before):end]))
}
