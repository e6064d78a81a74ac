//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	resource "sepad/internal/merchant"
)

func TestChooseWorks(t *testing.T) {
	t.Parallel()

	t.Run("no name means every row", func(t *testing.T) {
		t.Parallel()
		chosen, err := chooseWorks(" ")
		if err != nil || len(chosen) != len(works) {
			t.Errorf("got %d rows and %v, want %d", len(chosen), err, len(works))
		}
	})
	t.Run("rows come in the order asked for", func(t *testing.T) {
		t.Parallel()
		chosen, err := chooseWorks("pay, create")
		if err != nil || len(chosen) != 2 || chosen[0].name != "pay" || chosen[1].name != "create" {
			t.Errorf("got %v and %v", chosen, err)
		}
	})
	t.Run("an unknown name is answered with those that there are", func(t *testing.T) {
		t.Parallel()
		_, err := chooseWorks("creat")
		if err == nil || !strings.Contains(err.Error(), "create-sqlite") {
			t.Errorf("got %v", err)
		}
	})
}

func TestReadPgbench(t *testing.T) {
	t.Parallel()

	t.Run("a clean round has a rate and no errors", func(t *testing.T) {
		t.Parallel()
		s, err := readPgbench("number of failed transactions: 0 (0.000%)\ntps = 1234.5 (without initial connection time)\n")
		if err != nil || s != (sample{figure: 1234.5}) {
			t.Errorf("got %+v and %v", s, err)
		}
	})
	t.Run("an aborted client is an error with its message", func(t *testing.T) {
		t.Parallel()
		s, err := readPgbench("pgbench: error: client 3 script 0 aborted in command 2 query 0: ERROR:  duplicate key\ntps = 12.0\n")
		if err != nil || s.errors != 1 || !strings.Contains(s.trouble, "duplicate key") {
			t.Errorf("got %+v and %v", s, err)
		}
	})
	t.Run("no rate is no sample", func(t *testing.T) {
		t.Parallel()
		if _, err := readPgbench("connection refused"); err == nil {
			t.Error("got no error")
		}
	})
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, example := range []struct {
		name         string
		better       direction
		ours, theirs sample
		ratio        float64
		want         verdict
	}{
		{"a rate at the goal", moreIsBetter, sample{figure: 90}, sample{figure: 100}, 0.9, reachesGoal},
		{"a rate between floor and goal", moreIsBetter, sample{figure: 70}, sample{figure: 100}, 0.7, reachesFloor},
		{"a rate below the floor", moreIsBetter, sample{figure: 50}, sample{figure: 100}, 0.5, belowFloor},
		{"a size below the goal", lessIsBetter, sample{figure: 50}, sample{figure: 100}, 0.5, reachesGoal},
		{"a size above the floor", lessIsBetter, sample{figure: 90}, sample{figure: 100}, 0.9, belowFloor},
		{"a time that is half the other", timesFaster, sample{figure: 50}, sample{figure: 100}, 2, reachesGoal},
		{"a good rate with errors", moreIsBetter, sample{figure: 90, errors: 1}, sample{figure: 100}, 0.9, hasErrors},
		{"a good rate with errors of the other", moreIsBetter, sample{figure: 90}, sample{figure: 100, errors: 1}, 0.9, hasErrors},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			w := work{better: example.better, floor: 0.6, goal: 0.8}
			if example.better == lessIsBetter {
				w.floor, w.goal = w.goal, w.floor
			}
			got := newLine(w, measurement{ours: []sample{example.ours}, theirs: []sample{example.theirs}})
			if got.Verdict != example.want || got.Ratio != example.ratio {
				t.Errorf("got %s at %v, want %s at %v", got.Verdict, got.Ratio, example.want, example.ratio)
			}
		})
	}
}

func TestUnmeasured(t *testing.T) {
	t.Parallel()
	missing := report{Lines: []line{unmeasured(works[0], errMissing)}}
	if err := missing.failure(); err != nil {
		t.Errorf("a peer that is not here fails the run: %v", err)
	}
	broken := report{Lines: []line{unmeasured(works[0], errors.New("does not build"))}}
	if err := broken.failure(); err == nil {
		t.Error("a row that should have been measured does not fail the run")
	}
}

func TestAlternate(t *testing.T) {
	t.Parallel()
	var order strings.Builder
	play := func(name string) side {
		return func(context.Context) (sample, error) {
			order.WriteString(name)
			return sample{figure: 1}, nil
		}
	}
	m, err := alternate(t.Context(), &lab{}, work{better: moreIsBetter}, 3, play("o"), play("t"))
	if err != nil || len(m.ours) != 3 || len(m.theirs) != 3 {
		t.Fatalf("got %d and %d samples and %v", len(m.ours), len(m.theirs), err)
	}
	if order.String() != "ottootto" {
		t.Errorf("the sides were played in the order %s", order.String())
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	values := []float64{5, 1, 4, 2}
	if got := median(values); got != 3 {
		t.Errorf("median of %v is %v, want 3", values, got)
	}
	if got := quantile(values, lowerQuartile); got != 1.75 {
		t.Errorf("lower quartile of %v is %v, want 1.75", values, got)
	}
}

func TestShopIsAGoodResourceFile(t *testing.T) {
	t.Parallel()
	l := &lab{folder: t.TempDir()}
	s, err := l.openShop()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Merchants) != shopTenants*keysPerTenant {
		t.Errorf("%d keys, want %d", len(s.Merchants), shopTenants*keysPerTenant)
	}
	text, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (resource.Rules{Environment: resource.Sandbox, Adapters: []string{"sandbox"}}).ParseFile(s.path, text); err != nil {
		t.Error(err)
	}
}

func TestHealthyEndpointsAreThoseThatDoNotHang(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for number := range endpoints {
		if number%hangingEvery == 0 {
			_, profile := endpointID(number)
			seen[profile] = true
		}
	}
	if len(seen) != hanging {
		t.Fatalf("%d endpoints hang, want %d", len(seen), hanging)
	}
	for number := range healthy {
		_, profile := healthyID(number)
		if seen[profile] {
			t.Errorf("endpoint %d hangs, or is another one's", number)
		}
		seen[profile] = true
	}
	if len(seen) != endpoints {
		t.Errorf("%d endpoints, want %d", len(seen), endpoints)
	}
}
