package webhook

import (
	"net"
	"net/http"
	"time"

	"code.dny.dev/ssrf"
)

const (
	connectPatience = 10 * time.Second
	// idlePatience is shorter than that of common servers, so that a connection
	// is not used at the moment at which its other end closes it.
	idlePatience  = 4 * time.Second
	maxIdle       = 512
	maxAnswerHead = 64 << 10
)

// NewTransport carries deliveries. Unless private networks are allowed, an
// address is looked at when the connection is made, after names have been
// resolved: a name may lead anywhere. There is no proxy, since it would connect
// in our place.
func NewTransport(allowPrivate bool) *http.Transport {
	dialer := &net.Dialer{Timeout: connectPatience}
	if !allowPrivate {
		dialer.Control = ssrf.New(ssrf.WithAnyPort()).Safe
	}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectPatience,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxInFlight,
		IdleConnTimeout:        idlePatience,
		MaxResponseHeaderBytes: maxAnswerHead,
	}
}
