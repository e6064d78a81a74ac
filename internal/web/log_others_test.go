package web

import (
	"bytes"
	"encoding/json"
	"log"
	"testing"
)

// TestWhatOthersLog is a line of ours, without what a stranger has sent.
func TestWhatOthersLog(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`Unsolicited response received on idle HTTP channel starting with "{\"email\":\"ada@shop.example\"}"; err=<nil>`: "Unsolicited response received on idle HTTP channel",
		"http: Accept error: too many open files; retrying in 5ms":                                                       "http: Accept error: too many open files; retrying in 5ms",
	} {
		var written bytes.Buffer
		logger, err := NewLogger("json", &written)
		if err != nil {
			t.Fatal(err)
		}
		log.New(Others(logger), "", 0).Print(said)
		var line struct{ Level, Text string }
		if err := json.Unmarshal(written.Bytes(), &line); err != nil || line.Level != "WARN" || line.Text != want {
			t.Errorf("%s is logged as %s, %v", said, written.String(), err)
		}
	}
}
