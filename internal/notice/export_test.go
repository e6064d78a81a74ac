package notice

import "crypto/x509"

// Trust has the server's certificate checked against others than the machine's.
func (s *Server) Trust(authorities *x509.CertPool) { s.tlsConfig.RootCAs = authorities }

// Languages are the codes of all languages.
func Languages() (codes []string) {
	for code := range tongues {
		codes = append(codes, code)
	}
	return codes
}
