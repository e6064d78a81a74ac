package config

import (
	"net/netip"
	"net/url"
	"strings"
)

// Unguarded names the settings by whose addresses data goes over a network so that
// somebody on it could read it, or answer in the place of the server that is meant.
func (c Config) Unguarded() (settings []string) {
	for _, one := range []struct{ setting, address string }{
		{"SEPAD_DATABASE_URL", c.DatabaseURL}, {"SEPAD_DATABASE_REPLICA_URL", c.DatabaseReplicaURL}, {"SEPAD_REDIS_URL", c.RedisURL},
	} {
		if one.address != "" && !isGuarded(one.address) {
			settings = append(settings, one.setting)
		}
	}
	return settings
}

// isGuarded tells an address on this machine, and one whose server shows a certificate
// that is checked.
func isGuarded(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	query := parsed.Query()
	switch parsed.Scheme {
	case "sqlite", "unix":
		return true
	case "redis":
		return isHere(parsed.Hostname())
	case "rediss":
		return query.Get("skip_verify") == ""
	}
	host := parsed.Hostname()
	if named := query.Get("host"); named != "" {
		host = named
	}
	return isHere(host) || query.Get("sslmode") == "verify-full"
}

// isHere tells names of this machine; a path is a socket on it.
func isHere(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "" || host == "localhost" || strings.HasPrefix(host, "/") || err == nil && address.Unmap().IsLoopback()
}
