package webhook

import (
	"net"
	"net/http"
	"net/netip"
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

// azureWireServer answers machines in that cloud with their credentials. Its
// address looks public, so that no list of private networks has it.
var azureWireServer = netip.PrefixFrom(netip.AddrFrom4([4]byte{168, 63, 129, 16}), 32)

// PublicOnly refuses connections to anything but public addresses.
func PublicOnly(options ...ssrf.Option) *ssrf.Guardian {
	return ssrf.New(append(options, ssrf.WithDeniedV4Prefixes(azureWireServer))...)
}

// NewTransport carries deliveries. Unless private networks are allowed, an
// address is looked at when the connection is made, after names have been
// resolved: a name may lead anywhere. There is no proxy, since it would connect
// in our place. Nor is there HTTP/2: all who deliver to one host would share a
// connection with its failures, and a receiver could keep a processor busy with
// frames that are no answer, for as long as there is something to deliver.
func NewTransport(allowPrivate bool) *http.Transport {
	dialer := &net.Dialer{Timeout: connectPatience}
	if !allowPrivate {
		dialer.Control = PublicOnly(ssrf.WithAnyPort()).Safe
	}
	onlyHTTP1 := &http.Protocols{}
	onlyHTTP1.SetHTTP1(true)
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectPatience,
		Protocols:              onlyHTTP1,
		DisableCompression:     true,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxInFlight,
		IdleConnTimeout:        idlePatience,
		MaxResponseHeaderBytes: maxAnswerHead,
	}
}
