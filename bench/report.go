//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

const resultsFolder = "bench/results"

// verdict says how a row stands.
type verdict string

const (
	reachesGoal  verdict = "goal"
	reachesFloor verdict = "floor"
	belowFloor   verdict = "below floor"
	hasErrors    verdict = "errors"
	notMeasured  verdict = "not measured"
)

// line is a row of the table.
type line struct {
	Work    string  `json:"work"`
	What    string  `json:"what"`
	Against string  `json:"against"`
	Unit    string  `json:"unit"`
	Better  string  `json:"better"`
	Ours    float64 `json:"ours"`
	Theirs  float64 `json:"theirs"`
	Ratio   float64 `json:"ratio"`
	// Spread holds the quartiles of the rounds' ratios.
	Spread       [2]float64 `json:"ratio_quartiles"`
	Rounds       int        `json:"rounds"`
	Floor        float64    `json:"floor"`
	Goal         float64    `json:"goal"`
	Verdict      verdict    `json:"verdict"`
	OurErrors    int        `json:"our_errors"`
	TheirErrors  int        `json:"their_errors"`
	Notes        []string   `json:"notes,omitempty"`
	isUnexpected bool
}

func newLine(w work, m measurement) line {
	ratios := m.ratios(w.better)
	l := blankLine(w)
	l.Ours, l.Theirs, l.Ratio = median(figures(m.ours)), median(figures(m.theirs)), median(ratios)
	l.Spread = [2]float64{quantile(ratios, lowerQuartile), quantile(ratios, upperQuartile)}
	l.Rounds, l.Notes = len(ratios), m.notes
	var ourTrouble, theirTrouble string
	l.OurErrors, ourTrouble = errorsOf(m.ours)
	l.TheirErrors, theirTrouble = errorsOf(m.theirs)
	for _, trouble := range []string{ourTrouble, theirTrouble} {
		if trouble != "" {
			l.Notes = append(l.Notes, "first error: "+trouble)
		}
	}
	switch {
	case l.OurErrors+l.TheirErrors > 0:
		l.Verdict = hasErrors
	case w.better.reaches(l.Ratio, w.goal):
		l.Verdict = reachesGoal
	case w.better.reaches(l.Ratio, w.floor):
		l.Verdict = reachesFloor
	default:
		l.Verdict = belowFloor
	}
	return l
}

func blankLine(w work) line {
	return line{
		Work: w.name, What: w.what, Against: w.against, Unit: w.unit, Better: string(w.better), Floor: w.floor, Goal: w.goal,
	}
}

// unmeasured is the line of a row that has no figures, and says why.
func unmeasured(w work, err error) line {
	l := blankLine(w)
	l.Verdict, l.Notes, l.isUnexpected = notMeasured, []string{err.Error()}, !errors.Is(err, errMissing)
	return l
}

// report is the outcome of a run.
type report struct {
	Date    string  `json:"date"`
	Commit  string  `json:"commit"`
	Full    bool    `json:"full"`
	Machine machine `json:"machine"`
	Lines   []line  `json:"rows"`
}

func newReport(ctx context.Context, l *lab) *report {
	return &report{
		Date: time.Now().UTC().Format(time.RFC3339), Commit: commitOfTree(ctx), Full: l.full, Machine: describeMachine(l.folder),
	}
}

var headings = []string{"work", "ours", "limit or peer", "unit", "ratio", "quartiles", "floor", "goal", "verdict", "errors (ours, theirs)"}

func (l line) cells() []string {
	if l.Verdict == notMeasured {
		return []string{l.Work, "-", "-", l.Unit, "-", "-", mark(l.Floor), mark(l.Goal), string(l.Verdict), "-"}
	}
	return []string{
		l.Work, shortNumber(l.Ours), shortNumber(l.Theirs), l.Unit, fmt.Sprintf("%.2f", l.Ratio),
		fmt.Sprintf("%.2f to %.2f", l.Spread[0], l.Spread[1]), mark(l.Floor), mark(l.Goal), string(l.Verdict),
		fmt.Sprintf("%d, %d", l.OurErrors, l.TheirErrors),
	}
}

func mark(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }

// table is for the terminal.
func (r *report) table() string {
	var text bytes.Buffer
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, strings.Join(headings, "\t"))
	for _, l := range r.Lines {
		fmt.Fprintln(columns, strings.Join(l.cells(), "\t"))
	}
	_ = columns.Flush() // a buffer takes everything
	for _, l := range r.Lines {
		for _, note := range l.Notes {
			fmt.Fprintf(&text, "%s: %s\n", l.Work, note)
		}
	}
	text.WriteString(r.Machine.warning())
	return text.String()
}

func (r *report) markdown() string {
	var text strings.Builder
	fmt.Fprintf(&text, "# Measured on %s\n\nCommit %s, %s.\n\n", r.Date, r.Commit, r.Machine)
	fmt.Fprintf(&text, "| %s |\n|%s\n", strings.Join(headings, " | "), strings.Repeat("---|", len(headings)))
	for _, l := range r.Lines {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(l.cells(), " | "))
	}
	text.WriteString("\nFigures are medians of rounds that alternate; the ratio is the median of the rounds' own ratios.\n" + r.Machine.warning() + "\n")
	for _, l := range r.Lines {
		fmt.Fprintf(&text, "- **%s**: %s, against %s; ratio %s the goal.", l.Work, l.What, l.Against, l.Better)
		for _, note := range l.Notes {
			fmt.Fprintf(&text, " %s.", note)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// write keeps the report under its date.
func (r *report) write(folder string) ([]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	encoded, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	name := filepath.Join(folder, strings.ReplaceAll(r.Date, ":", ""))
	texts := map[string][]byte{name + ".md": []byte(r.markdown()), name + ".json": append(encoded, '\n')}
	for path, text := range texts {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return nil, err
		}
	}
	return []string{name + ".md", name + ".json"}, nil
}

// failure tells that a row could not be measured although it should. A ratio
// below its floor is a finding, not a failure.
func (r *report) failure() error {
	var failed []string
	for _, l := range r.Lines {
		if l.isUnexpected {
			failed = append(failed, l.Work)
		}
	}
	if failed == nil {
		return nil
	}
	return fmt.Errorf("not measured: %s", strings.Join(failed, ", "))
}
