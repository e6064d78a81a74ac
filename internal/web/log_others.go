package web

import (
	"io"
	"log/slog"
	"strings"
)

// Others is where libraries write that know no logger of ours, net/http above all. What comes unasked over a connection it repeats
// there, up to 4 KiB of it: a receiver that answers 204 with the event that it was sent would have names and session's tokens in the log.
func Others(logger *slog.Logger) io.Writer { return others{logger} }

type others struct{ logger *slog.Logger }

func (o others) Write(line []byte) (int, error) {
	text, _, _ := strings.Cut(strings.TrimSpace(string(line)), " starting with ")
	o.logger.Warn("a library reports something", "text", text)
	return len(line), nil
}
