package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal gives both ends of a pseudo terminal: what is written to the one
// is seen on the other.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("open a terminal: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	var locked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(unsafe.Pointer(value))); code != 0 {
			t.Fatalf("prepare a terminal: %v", code)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("open a terminal: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return screen, terminal
}

func TestImportShowsProgressOnATerminal(t *testing.T) {
	t.Parallel()
	folder := withShop(t)
	var file strings.Builder
	file.WriteString(processorHeader)
	const lines = 20_000 // more than is read at once
	for i := range lines {
		fmt.Fprintf(&file, "P-%d;approved;12,50;EUR;31.03.2026\n", i)
	}
	write(t, folder, "march.csv", file.String())
	screen, terminal := openTerminal(t)
	cmd := command(t, folder, nil, "import", "transactions", "-g", "Main account", "march.csv")
	var stdout strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, terminal
	seen := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // it ends with an error when the last writer has gone
		seen <- string(text)
	}()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	shown := regexp.MustCompile(`march\.csv +(\d+)%`).FindAllStringSubmatch(<-seen, -1)
	if len(shown) < 2 || shown[0][1] != "0" || shown[len(shown)-1][1] == "0" {
		t.Errorf("the bar has shown %v", shown)
	}
	want(t, stdout.String(), "20000 new")
	if ran := sepad(t, folder, "import", "transactions", "-g", "Main account", "march.csv"); strings.Contains(ran.stderr, "%") {
		t.Errorf("without a terminal there is a bar: %s", ran.stderr)
	}
}
