//go:build unix

// Command bench measures sepad against the databases it stands on and against
// programs that do comparable work, and prints the ratios:
//
//	make bench                      every row
//	make bench WORK=create,pay      some rows
//	make bench FULL=1               more and longer rounds
//
// A machine's speed at a given moment says little, so no figure stands alone: a
// row measures two things side by side, in short rounds that alternate, and its
// ratio is the median of the rounds' ratios. Errors on either side are counted
// and shown; a row with errors is not passed.
//
// The flow: main picks the rows, each of which is a file of its own (work_*.go)
// with its limit or peer, its floor and its goal. A row asks the lab for what it
// needs: the sepad program (built from this tree and started with "serve", as
// in production), a private PostgreSQL cluster that waits for the disk, the
// peers of bench/peers. Requests are made by a second process of this program
// ("load"), over loopback connections that are kept open, with API keys and
// client addresses varied so that the limits in force refuse nothing. At the
// end everything that was started is stopped, and the table is printed and
// written to bench/results as Markdown and JSON.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// patience ends a run that hangs.
	patience     = 14 * time.Minute
	fullPatience = 2 * time.Hour
)

func main() {
	if len(os.Args) > 1 {
		exitOn(runPart(os.Args[1]))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	exitOn(run(ctx, os.Getenv("WORK"), isSet(os.Getenv("FULL"))))
}

// runPart is one of the processes that a run starts of this program, or a study.
func runPart(name string) error {
	switch name {
	case loadCommand:
		return makeLoad(os.Stdin, os.Stdout)
	case copyCommand:
		return serveCopy()
	case memoryCommand:
		return serveMemory()
	default:
		return runStudy(name)
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func isSet(value string) bool { return value != "" && value != "0" }

// run measures the named rows, all of them when none is named.
func run(ctx context.Context, names string, full bool) error {
	chosen, err := chooseWorks(names)
	if err != nil {
		return err
	}
	limit := patience
	if full {
		limit = fullPatience
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	lab, err := openLab(full)
	if err != nil {
		return err
	}
	defer lab.close()
	report := newReport(ctx, lab)
	for _, w := range chosen {
		report.Lines = append(report.Lines, measure(ctx, lab, w))
	}
	fmt.Print(report.table())
	paths, err := report.write(resultsFolder)
	if err != nil {
		return err
	}
	fmt.Println("\nWritten to", strings.Join(paths, " and "))
	return report.failure()
}

// chooseWorks finds rows by name.
func chooseWorks(names string) ([]work, error) {
	if strings.TrimSpace(names) == "" {
		return works, nil
	}
	var chosen []work
	for name := range strings.SplitSeq(names, ",") {
		at := slices.IndexFunc(works, func(w work) bool { return w.name == strings.TrimSpace(name) })
		if at < 0 {
			return nil, fmt.Errorf("there is no row %q; there are %s", strings.TrimSpace(name), strings.Join(workNames(), ", "))
		}
		chosen = append(chosen, works[at])
	}
	return chosen, nil
}

func workNames() (names []string) {
	for _, w := range works {
		names = append(names, w.name)
	}
	return names
}

// measure turns whatever becomes of a row into its line.
func measure(ctx context.Context, l *lab, w work) line {
	l.say("%s: %s, against %s", w.name, w.what, w.against)
	began := time.Now()
	m, err := w.measure(ctx, l, w)
	if err != nil {
		l.say("%s: not measured: %v", w.name, err)
		return unmeasured(w, err)
	}
	finished := newLine(w, m)
	l.say("%s: ratio %.2f, %s, in %s", w.name, finished.Ratio, finished.Verdict, time.Since(began).Round(time.Second))
	return finished
}
