//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
)

// A study is a measurement that answers a question of its own and prints a table of its own:
//
//	make study OF=partitions [ROWS=10000000]
//
// Unlike rows, studies are not run with the others: they take long and much disk.
type study struct {
	// rows is how large it is where nobody says otherwise.
	rows int
	run  func(context.Context, *lab, int) (figuresTable, error)
}

var studies = map[string]study{
	"growth":     {2_000_000, studyGrowth},
	"night":      {200_000, studyNight},
	"partitions": {10_000_000, studyPartitions},
	"reads":      {8, studyReads},
}

// figuresTable is what a study has found, a heading first.
type figuresTable [][]string

func (t *figuresTable) add(cells ...string) { *t = append(*t, cells) }

func (t figuresTable) String() string {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, cells := range t {
		fmt.Fprintln(columns, strings.Join(cells, "\t"))
	}
	_ = columns.Flush() // a builder takes everything
	return text.String()
}

// runStudy runs one by its name, as large as ROWS says.
func runStudy(name string) error {
	chosen, known := studies[name]
	if !known {
		return fmt.Errorf("there is no study %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(studies)), ", "))
	}
	rows := chosen.rows
	if text := os.Getenv("ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil || rows <= 0 {
			return fmt.Errorf("ROWS is a number of rows, not %q", text)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	l, err := openLab(true)
	if err != nil {
		return err
	}
	defer l.close()
	at := describeMachine(l.folder)
	found, err := chosen.run(ctx, l, rows)
	fmt.Printf("%s, %d rows, commit %s, %s\n\n%s\n%s", name, rows, commitOfTree(ctx), at, found, at.warning())
	return err
}
