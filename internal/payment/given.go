package payment

// Given points at a value, and at nothing for one that is empty: answers, records and events say null there.
func Given[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}
