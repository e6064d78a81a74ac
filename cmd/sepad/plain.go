package main

import (
	"io"
	"os"
	"unicode"
	"unicode/utf8"
)

// plain keeps strangers' words from steering the terminal of whoever reads them: what
// receivers of webhooks and banks' servers have answered may hold anything.
type plain struct{ out io.Writer }

// plainAt is where a person reads in plain; programs get every byte.
func plainAt(out *os.File) io.Writer {
	if !isTerminal(out) {
		return out
	}
	return plain{out}
}

func (p plain) Write(text []byte) (int, error) {
	shown := make([]byte, 0, len(text))
	for rest := text; len(rest) > 0; {
		letter, size := utf8.DecodeRune(rest)
		if unicode.IsControl(letter) && letter != '\n' && letter != '\t' {
			shown = utf8.AppendRune(shown, unicode.ReplacementChar)
		} else {
			shown = append(shown, rest[:size]...)
		}
		rest = rest[size:]
	}
	_, err := p.out.Write(shown)
	return len(text), err
}
