package web

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func proxies(t testing.TB, setting string) TrustedProxies {
	t.Helper()
	trusted, err := ParseTrustedProxies(setting)
	if err != nil {
		t.Fatal(err)
	}
	return trusted
}

func TestClientIP(t *testing.T) {
	t.Parallel()
	trusted := proxies(t, "10.0.0.0/8, 2001:db8::/32 ,192.0.2.9,::ffff:172.16.0.0/108")
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"a peer that is no proxy":              {"198.51.100.1:80", []string{"203.0.113.5"}, "198.51.100.1"},
		"a proxy that forwards nothing":        {"10.0.0.1:80", nil, "10.0.0.1"},
		"a proxy with an empty header":         {"10.0.0.1:80", []string{""}, "10.0.0.1"},
		"one client":                           {"10.0.0.1:80", []string{"203.0.113.5"}, "203.0.113.5"},
		"what the client claims is left of it": {"10.0.0.1:80", []string{"1.1.1.1, 203.0.113.5"}, "203.0.113.5"},
		"a chain of proxies":                   {"10.0.0.1:80", []string{"1.1.1.1,203.0.113.5, 10.2.2.2 ,192.0.2.9"}, "203.0.113.5"},
		"several headers":                      {"10.0.0.1:80", []string{"1.1.1.1", "203.0.113.5", "10.3.3.3"}, "203.0.113.5"},
		"nothing but proxies":                  {"10.0.0.1:80", []string{"10.9.9.9, 10.2.2.2"}, "10.9.9.9"},
		"an entry that is no address":          {"10.0.0.1:80", []string{"203.0.113.5, unknown, 10.2.2.2"}, "10.2.2.2"},
		"only an entry that is no address":     {"10.0.0.1:80", []string{"unknown"}, "10.0.0.1"},
		"an entry with a port":                 {"10.0.0.1:80", []string{"203.0.113.5:4711"}, "203.0.113.5"},
		"an IPv6 entry with a port":            {"10.0.0.1:80", []string{"[2001:4860::1]:4711"}, "2001:4860::1"},
		"an IPv6 entry in brackets":            {"10.0.0.1:80", []string{"[2001:4860::1]"}, "2001:4860::1"},
		"an IPv6 peer":                         {"[2001:db8::7]:80", []string{"203.0.113.5"}, "203.0.113.5"},
		"a mapped peer":                        {"[::ffff:10.0.0.1]:80", []string{"::ffff:203.0.113.5"}, "203.0.113.5"},
		"a mapped network in the setting":      {"172.16.5.5:80", []string{"203.0.113.5"}, "203.0.113.5"},
		"a neighbour of a mapped network":      {"172.32.5.5:80", []string{"203.0.113.5"}, "172.32.5.5"},
		"a zone":                               {"[fe80::1%eth0]:80", nil, "fe80::1"},
		"a peer without an address":            {"@", []string{"203.0.113.5"}, "invalid IP"},
		"an address written unlike an address": {"10.0.0.1:80", []string{"0203.0.113.5"}, "10.0.0.1"},
		"a bracket that is not closed":         {"10.0.0.1:80", []string{"[2001:4860::1"}, "10.0.0.1"},
		"a list that ends in a comma":          {"10.0.0.1:80", []string{"203.0.113.5,"}, "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
			for _, line := range c.forwarded {
				r.Header.Add("X-Forwarded-For", line)
			}
			if got := trusted.ClientIP(r).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTrustedProxiesAreCheckedAtTheStart(t *testing.T) {
	t.Parallel()
	for setting, entry := range map[string]string{"10.0.0.0/8,proxy": "entry 2", "10.0.0.0/33": "entry 1", ",": "entry 1", "10.0.0.1,": "entry 2", "::1,0.0.0.0/0": "entry 2 is everybody", "::/0": "entry 1 is everybody"} {
		_, err := ParseTrustedProxies(setting)
		if err == nil || !strings.Contains(err.Error(), entry) {
			t.Errorf("%q: got %v", setting, err)
		}
	}
	if none := proxies(t, " "); len(none) != 0 {
		t.Errorf("an empty setting trusts %v", none)
	}
	if !proxies(t, "10.1.2.3/8").Contains(netip.MustParseAddr("10.200.0.1")) {
		t.Error("a network is not the whole network")
	}
}

// FuzzClientIP checks the rule itself: a peer that is no proxy is believed
// alone, and whatever a client writes left of a proxy's entry changes nothing.
func FuzzClientIP(f *testing.F) {
	f.Add("10.0.0.1:80", "1.1.1.1, 10.2.2.2", "203.0.113.5")
	f.Add("192.0.2.1:80", "::1", "[2001:db8::1]:5")
	f.Add("[::ffff:10.0.0.1]:80", ",,,", "unknown")
	trusted := proxies(f, "10.0.0.0/8,2001:db8::/32")
	f.Fuzz(func(t *testing.T, peerText, claimed, appended string) {
		ask := func(lines ...string) netip.Addr {
			return trusted.ClientIP(&http.Request{RemoteAddr: peerText, Header: http.Header{"X-Forwarded-For": lines}})
		}
		got := ask(claimed)
		if got.Is4In6() || got.Zone() != "" {
			t.Fatalf("%s is not in its plain form", got)
		}
		direct := parseAddress(peerText)
		if !trusted.Contains(direct) && got != direct {
			t.Fatalf("a stranger's header was believed: %s", got)
		}
		if client := parseAddress(appended); trusted.Contains(direct) && client.IsValid() && !trusted.Contains(client) {
			if got := ask(claimed, appended); got != client {
				t.Fatalf("a claim changed the address from %s to %s", client, got)
			}
		}
	})
}
