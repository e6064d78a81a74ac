package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"sepad/internal/clock"
)

// vouchedFor is how long it is believed, while a body comes, that its sender may still do what was asked for.
const vouchedFor = time.Second

// Vouched has a body read only while its sender still may what the request was let in for. Who is let in is decided by the
// headers; whoever holds back the body, for half a minute or with a file for as long as it takes, would otherwise act
// with a right that was taken away meanwhile. Whoever reads is asked again after having had to wait (InTurn).
func Vouched(r *http.Request, own clock.Clock, again func() error) *http.Request {
	v := &voucher{own: own, again: again, asked: own.Now()}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		r = r.WithContext(context.WithValue(r.Context(), vouchKey{}, v))
	}
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	r.Body = &vouched{r.Body, v}
	return r
}

// voucher is whom to ask whether a sender still may what the request was let in for.
type voucher struct {
	own   clock.Clock
	again func() error
	asked time.Time
}

type vouchKey struct{}

// voucherOf is nil where nobody vouched for anybody.
func voucherOf(ctx context.Context) *voucher {
	v, _ := ctx.Value(vouchKey{}).(*voucher)
	return v
}

func (v *voucher) isStale() bool { return v != nil && v.own.Now().Sub(v.asked) >= vouchedFor }

func (v *voucher) ask() error {
	if v == nil {
		return nil
	}
	now := v.own.Now() // what is taken away meanwhile is found out the next time
	err := v.again()
	if err == nil {
		v.asked = now
	}
	return err
}

type vouched struct {
	io.ReadCloser
	voucher *voucher
}

// Read passes on what came only after asking, at the end and whenever it is long ago.
func (v *vouched) Read(into []byte) (int, error) {
	n, err := v.ReadCloser.Read(into)
	if err != nil || v.voucher.isStale() {
		if refusal := v.voucher.ask(); refusal != nil {
			return 0, refused{refusal}
		}
	}
	return n, err
}

// refused is why a body is not read on.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// BodyFault is the answer to a body that could not be read: why it was not read on, or a fault of the body's own.
func BodyFault(err, broken error) error {
	if refusal, ok := errors.AsType[refused](err); ok {
		return refusal.error
	}
	return broken
}
