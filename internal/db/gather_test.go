package db

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// gathering is a gatherer whose groups wait to be let go.
type gathering struct {
	gatherer[int]
	begun   chan []int
	release chan struct{}
}

func gather(lanes, size int) *gathering {
	g := &gathering{begun: make(chan []int, 100), release: make(chan struct{})}
	g.gatherer = gatherer[int]{lanes: lanes, size: size, serve: func(group []int) {
		g.begun <- slices.Clone(group)
		<-g.release
	}}
	return g
}

// addAll gives requests one after the other, each time until nothing moves any more.
func (g *gathering) addAll(requests ...int) {
	for _, request := range requests {
		g.add(request)
		synctest.Wait()
	}
}

// groups are those that have begun since they were last asked for.
func (g *gathering) groups() (all [][]int) {
	synctest.Wait()
	for len(g.begun) > 0 {
		all = append(all, <-g.begun)
	}
	return all
}

func (g *gathering) want(t *testing.T, want ...[]int) {
	t.Helper()
	if got := g.groups(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the groups are %v, want %v", got, want)
	}
}

func TestGatherer(t *testing.T) {
	t.Parallel()
	bubble := func(name string, test func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, test)
		})
	}
	bubble("a request that finds a free lane waits for nobody", func(t *testing.T) {
		g := gather(2, 10)
		g.addAll(1, 2)
		g.want(t, []int{1}, []int{2})
		close(g.release)
	})
	bubble("what arrives while every lane is busy is served together", func(t *testing.T) {
		g := gather(1, 10)
		g.addAll(1, 2, 3, 4)
		g.want(t, []int{1})
		g.release <- struct{}{}
		g.want(t, []int{2, 3, 4})
		g.release <- struct{}{}
		g.addAll(5)
		g.want(t, []int{5})
		close(g.release)
	})
	bubble("a group is bounded, and the rest is served next", func(t *testing.T) {
		g := gather(1, 2)
		g.addAll(1, 2, 3, 4)
		close(g.release)
		g.want(t, []int{1}, []int{2, 3}, []int{4})
	})
	bubble("lanes that are held up get help for a while", func(t *testing.T) {
		g := gather(1, 10)
		g.spare, g.patience = 1, time.Second
		g.addAll(1, 2, 3)
		g.want(t, []int{1})
		<-time.After(g.patience)
		g.want(t, []int{2, 3})
		g.addAll(4)
		<-time.After(10 * g.patience)
		g.want(t)
		close(g.release)
		g.want(t, []int{4})
	})
	bubble("a lane that moves gets none", func(t *testing.T) {
		g := gather(1, 1)
		g.spare, g.patience = 1, time.Second
		g.addAll(1, 2, 3)
		g.release <- struct{}{}
		g.want(t, []int{1}, []int{2})
		<-time.After(g.patience)
		g.want(t)
		close(g.release)
		g.want(t, []int{3})
	})
}
