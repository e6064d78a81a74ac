package app

import (
	"bufio"
	"strings"
	"testing"
)

func TestUntouchedRegions(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-01600000 r-xp 00000000 fe:00 42   /usr/bin/sepad
Size:              18432 kB
Anonymous:             0 kB
01600000-02a00000 r--p 01200000 fe:00 42   /usr/bin/sepad
Anonymous:             4 kB
02a00000-02b00000 rw-p 02600000 fe:00 42   /usr/bin/sepad
Anonymous:             0 kB
7f0000000000-7f0000100000 r-xp 00000000 fe:00 43   /usr/lib/libc.so.6
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:          2048 kB
`
	found := untouchedRegions(bufio.NewScanner(strings.NewReader(smaps)), "/usr/bin/sepad")
	if len(found) != 1 || found[0] != (region{0x400000, 0x1200000}) {
		t.Errorf("got %+v: only what is the program's own, read-only and unchanged may be given back", found)
	}
}
