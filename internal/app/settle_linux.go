package app

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// settleDown gives back the memory that only the start needed: heap that was
// used for migrations and set-up, and those pages of the program itself that are
// not needed to wait for requests. The latter lie in the page cache and come
// back when they are used; most never are.
func settleDown() {
	debug.FreeOSMemory()
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for _, region := range untouchedRegions(bufio.NewScanner(maps), program) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, region.start, region.length, syscall.MADV_DONTNEED)
	}
}

type region struct{ start, length uintptr }

// untouchedRegions are the parts of a program's file that are mapped to be read
// and of which nothing was ever changed: what is not in the file must be kept.
func untouchedRegions(smaps *bufio.Scanner, program string) (found []region) {
	var candidate region
	for smaps.Scan() {
		fields := strings.Fields(smaps.Text())
		switch {
		case len(fields) >= 6 && strings.Contains(fields[0], "-"):
			candidate = region{}
			if readOnly := fields[1] == "r-xp" || fields[1] == "r--p"; readOnly && fields[5] == program {
				candidate = parseRegion(fields[0])
			}
		case len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0" && candidate.length > 0:
			found = append(found, candidate)
		}
	}
	return found
}

func parseRegion(text string) region {
	low, high, _ := strings.Cut(text, "-")
	start, err := strconv.ParseUint(low, 16, 64)
	end, errEnd := strconv.ParseUint(high, 16, 64)
	if err != nil || errEnd != nil || end < start {
		return region{}
	}
	return region{uintptr(start), uintptr(end - start)}
}
