package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/riverqueue/river/rivertype"
)

// TestWhatTookTooLongHidesNothing: one bank's server that never comes to an end is no reason to keep silent about another's.
func TestWhatTookTooLongHidesNothing(t *testing.T) {
	t.Parallel()
	wrong := errors.New("the folder cannot be read")
	late := fmt.Errorf("a server: %w", context.DeadlineExceeded)
	for want, all := range map[bool][]error{
		true:  {wrong, errors.Join(late, wrong), errors.Join(late, errors.Join(wrong, late))},
		false: {late, errors.Join(late, errors.Join(late)), errors.Join(wrong, context.Canceled)},
	} {
		for _, err := range all {
			var log bytes.Buffer
			told := false
			failures{slog.New(slog.NewTextHandler(&log, nil)), func(string) { told = true }}.HandleError(t.Context(), &rivertype.JobRow{Kind: "bank_files"}, err)
			if told != want || (log.Len() > 0) != want {
				t.Errorf("%v: told %t, %q", err, told, log.String())
			}
		}
	}
}
