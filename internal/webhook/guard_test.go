package webhook

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"code.dny.dev/ssrf"

	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestPrivateNetworksAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t), func(o *Options) { o.Sender.Transport = NewTransport(false) })
	address, err := url.Parse(b.receiver.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			e := b.newEndpoint(t, "http://"+host+":"+address.Port()+"/hooks")
			id := b.events(t, e, 1)[0]
			if _, err := b.drain(t.Context(), e, nil); err != nil {
				t.Fatal(err)
			}
			record := b.record(t, e, id)
			if record.Status != store.DeliveryPending || len(record.Attempts) != 1 {
				t.Fatalf("the delivery is %+v", record)
			}
			// 127.1 is a name to Go, and no name server knows it.
			if text := record.Attempts[0].Error; host != "127.1" && text != "the address is in a network that webhooks may not reach" {
				t.Errorf("the log says %q", text)
			}
		})
	}
	t.Cleanup(func() { b.receiver.wantCalls(t, 0) })
}

func TestWhichNetworksAreRefused(t *testing.T) {
	t.Parallel()
	guard := PublicOnly(ssrf.WithAnyPort())
	for _, c := range []struct {
		network, address string
		allowed          bool
	}{
		{"tcp4", "10.1.2.3:80", false},
		{"tcp4", "172.16.0.1:443", false},
		{"tcp4", "192.168.1.1:8443", false},
		{"tcp4", "169.254.169.254:80", false},
		{"tcp4", "168.63.129.16:80", false},
		{"tcp4", "168.63.129.17:80", true},
		{"tcp4", "100.64.0.1:80", false},
		{"tcp4", "127.0.0.53:80", false},
		{"tcp4", "224.0.0.1:80", false},
		{"tcp6", "[fe80::1]:80", false},
		{"tcp6", "[fd00::1]:80", false},
		{"tcp6", "[::ffff:10.0.0.1]:80", false},
		{"tcp6", "[64:ff9b::a00:1]:80", false},
		{"tcp6", "[2002:a00:1::]:80", false},
		{"unix", "10.1.2.3:80", false},
		{"tcp4", "93.184.216.34:12345", true},
		{"tcp6", "[2606:2800:220:1::1]:8080", true},
	} {
		if err := guard.Safe(c.network, c.address, nil); (err == nil) != c.allowed {
			t.Errorf("%s %s: %v", c.network, c.address, err)
		}
	}
}

func TestTheTransportUsesNoProxy(t *testing.T) {
	t.Parallel()
	if NewTransport(false).Proxy != nil {
		t.Error("a proxy would connect in our place, to wherever it likes")
	}
}

// TestADeliveryHasItsConnectionToItself: a receiver that speaks HTTP/2 is not spoken to so.
func TestADeliveryHasItsConnectionToItself(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 1)
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard <- r.Proto }))
	receiver.EnableHTTP2 = true
	receiver.StartTLS()
	t.Cleanup(receiver.Close)
	transport := NewTransport(true)
	t.Cleanup(transport.CloseIdleConnections)
	transport.TLSClientConfig = &tls.Config{RootCAs: receiver.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, receiver.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if protocol := <-heard; protocol != "HTTP/1.1" {
		t.Errorf("it is spoken to by %s", protocol)
	}
}

func TestOnlyHTTPIsSent(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"ftp://shop.example/", "file:///etc/passwd", "gopher://shop.example", "//shop.example", "http://", "http://%zz"} {
		if to := newTarget(merchant.WebhookProfile{URL: address, Active: true}, true); to.err == nil {
			t.Errorf("%s would be sent to", address)
		}
	}
}

func TestCredentialsInTheAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	b.endpoint = b.newEndpoint(t, strings.Replace(b.receiver.URL, "http://", "http://hook:pa%20ss@", 1))
	b.events(t, b.endpoint, 1)
	b.work(t)
	request := http.Request{Header: b.receiver.wantCalls(t, 1)[0].header}
	if user, password, _ := request.BasicAuth(); user != "hook" || password != "pa ss" {
		t.Errorf("the receiver is told %q, %q", user, password)
	}
}
