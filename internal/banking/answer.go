package banking

import (
	"errors"
	"fmt"
	"os"
	"time"

	"sepad/internal/banking/place"
	"sepad/internal/gateway/bank/playedbank"
)

// Answer plays the bank of an account whose place is a folder: it takes the files in out and puts into in what a bank
// would have answered by an instant. It says which files it put there. What is answered twice is the same, and read
// once.
func (b *Banking) Answer(account *Account, shape playedbank.Shape, names []string, now time.Time) (put []string, err error) {
	if account.Terms.SFTP != nil {
		return nil, errors.New("the played bank answers in folders only")
	}
	folder := place.Folder{Path: account.Terms.Folder}
	if len(names) == 0 {
		if names, err = folder.Unfetched(); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		answers, err := answersTo(account, shape, name, now)
		if err != nil {
			return put, err
		}
		for _, answer := range answers {
			if err := folder.Answer(answer.Name, answer.Content); err != nil {
				return put, err
			}
			put = append(put, answer.Name)
		}
	}
	return put, nil
}

func answersTo(account *Account, shape playedbank.Shape, name string, now time.Time) ([]playedbank.File, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	rules := account.Terms.Rules
	limits := playedbank.Limits{Entries: rules.MaxEntries, Bytes: rules.MaxBytes, OneDueDate: rules.OneDueDate, RefuseSchemeName: !rules.SchemeName}
	order, err := playedbank.Take(content, limits)
	if refusal, isRefusal := errors.AsType[*playedbank.Refusal](err); isRefusal {
		return []playedbank.File{playedbank.Refuse(refusal, shape, now)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return playedbank.Answers(order, shape, now)
}
