package banking_test

import (
	"log/slog"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/privacy"
)

type standing time.Time

func (s standing) Now() time.Time { return time.Time(s) }

// TestBytesOfBankFilesGoAfterTheirTime lets ten years pass over a file that has left, what the bank answered, and a
// file that never left the house.
func TestBytesOfBankFilesGoAfterTheirTime(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const kept = 3650 * 24 * time.Hour
		b := setup(t, s, "settle_days: 30")
		paid := b.pay(t, apptest.Approved)
		b.cutOff(t)
		b.Advance(t, 7*24*time.Hour)
		b.answer(t, playedbank.Plain)
		b.pay(t, apptest.Approved)
		b.cutOff(t)
		files := b.files(t)
		if len(files) != 2 {
			t.Fatalf("there are %d files", len(files))
		}
		latest := files[0]
		if files[1].CreatedAt.After(latest.CreatedAt) {
			latest = files[1]
		}
		b.Env.Exec(t, `UPDATE bank_files SET state = 'written' WHERE id = $1`, latest.ID.String())
		unsent := b.Env.Count(t, "bank_file_parts") / 2
		answers, lines := b.Env.Count(t, "bank_statement_parts"), b.Env.Count(t, "bank_lines")
		if unsent == 0 || answers == 0 || lines == 0 {
			t.Fatalf("%d parts, %d of answers, %d lines", unsent, answers, lines)
		}
		now, real := b.Now(t), clock.Real{}.Now()
		for _, step := range []struct {
			after          time.Duration
			parts, answers int
		}{{kept - 24*time.Hour, 2 * unsent, answers}, {kept + 24*time.Hour, unsent, 0}, {2 * kept, unsent, 0}} {
			removed := 0
			sweep := &privacy.Privacy{
				Store: b.App.Store, Clock: standing(now.Add(step.after)), Real: standing(real.Add(step.after)), Logger: slog.New(slog.DiscardHandler),
				Keep: privacy.Retention{BankFiles: kept}, Observe: func(_ string, rows int) { removed += rows },
			}
			before := b.Env.Count(t, "bank_file_parts")
			must(t, sweep.Retain(t.Context()))
			if parts, answered := b.Env.Count(t, "bank_file_parts"), b.Env.Count(t, "bank_statement_parts"); parts != step.parts || answered != step.answers {
				t.Errorf("after %s there are %d parts and %d of answers", step.after, parts, answered)
			} else if (parts < before) != (removed > 0) {
				t.Errorf("after %s %d rows were counted", step.after, removed)
			}
		}
		if b.Env.Count(t, "bank_files") != 2 || b.Env.Count(t, "bank_file_entries") != 2 || b.Env.Count(t, "bank_lines") != lines {
			t.Error("what the files were about is gone with their bytes")
		}
		b.wantStatus(t, paid, "approved")
	})
}
