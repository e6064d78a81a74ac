//go:build unix

package main

import (
	"context"
	"errors"
)

// work is one row of the table.
type work struct {
	name    string // what WORK= names
	what    string
	against string
	unit    string
	better  direction
	// floor must be reached, goal should be.
	floor, goal float64
	measure     func(context.Context, *lab, work) (measurement, error)
}

// works are all rows in the order of the table. A new one is a file with a
// work in it, and a line here.
var works = []work{createWork, createOneWork, createManyWork, payWork, payOneWork, payManyWork, overloadWork, rebillWork, rebillGrowthWork, reconJSONWork, reconCSVWork, reconXMLWork, reconGrowthWork, importWork, matchWork, bankFileWork, bankStatementWork, createSQLiteWork, dashboardWork, webhookWork, webhookManyWork, retrieveWork, pageWork, validateWork, startWork, memoryWork, ibanWork}

// direction says how a row's ratio is made and read.
type direction string

const (
	// moreIsBetter divides our figure by the other; more than the goal is good.
	moreIsBetter direction = "at least"
	// lessIsBetter does the same; less than the goal is good.
	lessIsBetter direction = "at most"
	// timesFaster divides the other time by ours; more than the goal is good.
	timesFaster direction = "times faster, at least"
)

func (d direction) ratio(ours, theirs float64) float64 {
	if d == timesFaster {
		return theirs / ours
	}
	return ours / theirs
}

func (d direction) reaches(ratio, mark float64) bool {
	if d == lessIsBetter {
		return ratio <= mark
	}
	return ratio >= mark
}

// errMissing is for a row whose peer cannot be had on this machine: that is no
// failure of the run.
var errMissing = errors.New("not on this machine")
