package main

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

func TestStrangersWordsDoNotSteerATerminal(t *testing.T) {
	t.Parallel()
	var seen bytes.Buffer
	for _, part := range []string{"ID\tANSWER\n1\tgrün \x1b]0;owned\a\u009b2J\r\x00", "\xff€\n"} {
		if n, err := (plain{&seen}).Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d bytes of %q, %v", n, part, err)
		}
	}
	if want := "ID\tANSWER\n1\tgrün \ufffd]0;owned\ufffd\ufffd2J\ufffd\ufffd\xff€\n"; seen.String() != want {
		t.Errorf("shown as %q", &seen)
	}
	var failed program
	failed.stderr = &seen
	seen.Reset()
	failed.fail(errors.New("the bank says \x1b[2J"), exitFailed)
	if want := "sepad: the bank says \ufffd[2J\n"; seen.String() != want {
		t.Errorf("a failure is shown as %q", &seen)
	}
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if out := plainAt(file); out != file {
		t.Errorf("a program reads %T", out)
	}
	terminal, err := os.OpenFile("/dev/null", os.O_WRONLY, 0) // a device of characters, as terminals are
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if out := plainAt(terminal); out != (plain{terminal}) {
		t.Errorf("a person reads %T", out)
	}
}
