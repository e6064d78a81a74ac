package banking

import "context"

// ahead gives page after page of a list, and reads each while its caller works on the one before. The first is read
// without a last row. A page that is not full is the last.
func ahead[T any](ctx context.Context, read func(ctx context.Context, last *T) ([]T, error)) func(yield func([]T, error) bool) {
	type page struct {
		rows []T
		err  error
	}
	return func(yield func([]T, error) bool) {
		coming := make(chan page)
		fetch := func(last *T) {
			rows, err := read(ctx, last)
			coming <- page{rows, err}
		}
		go fetch(nil)
		for {
			present := <-coming
			if len(present.rows) < readBatch {
				if len(present.rows) > 0 || present.err != nil {
					yield(present.rows, present.err)
				}
				return
			}
			go fetch(&present.rows[len(present.rows)-1])
			if !yield(present.rows, nil) {
				<-coming // nothing is left behind that reads
				return
			}
		}
	}
}
