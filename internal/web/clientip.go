package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// TrustedProxies are the networks whose word on a client's address is taken.
type TrustedProxies []netip.Prefix

// ParseTrustedProxies reads networks and single addresses separated by commas.
func ParseTrustedProxies(setting string) (TrustedProxies, error) {
	if strings.TrimSpace(setting) == "" {
		return nil, nil
	}
	var proxies TrustedProxies
	for i, text := range strings.Split(setting, ",") {
		network, err := parseNetwork(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("entry %d must be an address or a network such as 10.0.0.0/8", i+1)
		}
		if network.Bits() == 0 {
			return nil, fmt.Errorf("entry %d is everybody, and whoever calls could choose an address: name your proxies' networks", i+1)
		}
		proxies = append(proxies, network)
	}
	return proxies, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		address = address.Unmap().WithZone("")
		return address.Prefix(address.BitLen())
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	// A network of mapped addresses is that of the IPv4 ones it stands for.
	const mappedBits = 96
	if network.Addr().Is4In6() && network.Bits() >= mappedBits {
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mappedBits)
	}
	return network.Masked(), nil
}

// Contains tells whether an address is a trusted proxy's.
func (t TrustedProxies) Contains(address netip.Addr) bool {
	for _, network := range t {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// ClientIP is the peer's address or, when the peer is a trusted proxy, the
// right-most address in X-Forwarded-For that is not one. Left of that stands
// what the client says of itself. An entry that is no address ends the walk:
// the last proxy that is known is then the best answer.
func (t TrustedProxies) ClientIP(r *http.Request) netip.Addr {
	client := peer(r)
	if !t.Contains(client) {
		return client
	}
	headers := r.Header["X-Forwarded-For"]
	for i := len(headers) - 1; i >= 0; i-- {
		for rest, more := headers[i], true; more; {
			var entry string
			rest, entry, more = cutLast(rest)
			address := parseAddress(strings.TrimSpace(entry))
			if !address.IsValid() {
				return client
			}
			if client = address; !t.Contains(client) {
				return client
			}
		}
	}
	return client
}

// cutLast takes the last entry off a list.
func cutLast(list string) (rest, entry string, more bool) {
	comma := strings.LastIndexByte(list, ',')
	if comma < 0 {
		return "", list, false
	}
	return list[:comma], list[comma+1:], true
}

// peer is the address at the other end of the connection.
func peer(r *http.Request) netip.Addr { return parseAddress(r.RemoteAddr) }

// parseAddress reads an address with or without port and brackets. The zero
// address stands for a text that is none.
func parseAddress(text string) netip.Addr {
	if bare := len(text) - 1; bare > 0 && text[0] == '[' && text[bare] == ']' {
		text = text[1:bare]
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}
		}
		address = withPort.Addr()
	}
	return address.Unmap().WithZone("")
}
