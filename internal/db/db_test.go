package db_test

import (
	"log/slog"
	"strings"
	"testing"

	"sepad/internal/db"
)

func TestQueueLoggerPassesOnWarnings(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	logger := db.QueueLogger(db.Options{Logger: slog.New(slog.NewTextHandler(&text, nil))}).With("a", 1).WithGroup("g")
	logger.Info("chatter")
	logger.Warn("trouble", "b", 2)
	if got := text.String(); strings.Contains(got, "chatter") || !strings.Contains(got, "trouble a=1 g.b=2") {
		t.Errorf("logged %q", got)
	}
}
