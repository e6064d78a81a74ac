package payment

import (
	"errors"
	"fmt"
	"testing"
)

func TestFields(t *testing.T) {
	t.Parallel()
	t.Run("without any is no error", func(t *testing.T) {
		t.Parallel()
		if err := (Fields{}).Err(); err != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("are told in the order of their names", func(t *testing.T) {
		t.Parallel()
		for range 20 { // a map's order changes from one walk to the next
			f := Fields{}
			f.Add("lead.email", "b.")
			f.Add("amount", "a.")
			f.Add("lead", "c.")
			if got := f.Err().Error(); got != "amount: a.; lead: c.; lead.email: b." {
				t.Fatalf("got %q", got)
			}
		}
	})
	t.Run("keep the first sentence", func(t *testing.T) {
		t.Parallel()
		f := Fields{}
		f.Add("iban", "first")
		f.Add("iban", "second")
		if f["iban"] != "first" || KindOf(f.Err()) != Invalid {
			t.Errorf("got %q", f["iban"])
		}
	})
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for want, err := range map[Kind]error{
		0:              errors.New("something internal"),
		NotFound:       ErrSessionNotFound,
		Gone:           fmt.Errorf("pay: %w", ErrGone),
		Conflict:       errors.Join(errors.New("x"), ErrReferenceInUse),
		OutcomeUnknown: &Error{Kind: OutcomeUnknown},
	} {
		if got := KindOf(err); got != want {
			t.Errorf("%v is of kind %d, want %d", err, got, want)
		}
	}
	if KindOf(nil) != 0 {
		t.Error("nothing has a kind")
	}
	if got := Conflicting("Busy.").Error(); got != "Busy." {
		t.Errorf("got %q", got)
	}
}

func TestFixedDetails(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		ErrGone.Error():           "Session expired or completed",
		ErrReferenceInUse.Error(): "tenant_reference_id already in use for this tenant",
		DetailConflict:            "Conflict",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
