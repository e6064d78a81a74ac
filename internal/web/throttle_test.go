package web

import (
	"context"
	"net/netip"
	"testing"
)

func TestAnIPv6NetworkIsOneClient(t *testing.T) {
	t.Parallel()
	key := func(address string) string {
		return ClientKey(context.WithValue(t.Context(), infoKey{}, &info{clientIP: netip.MustParseAddr(address)}))
	}
	if key("2001:db8::1") != key("2001:db8::ffff:1") {
		t.Error("addresses of one network are told apart")
	}
	if key("2001:db8::1") == key("2001:db8:0:1::1") || key("192.0.2.1") == key("192.0.2.2") {
		t.Error("clients are not told apart")
	}
}
