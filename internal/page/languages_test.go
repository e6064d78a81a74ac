package page

import (
	"slices"
	"testing"

	"sepad/internal/merchant"
)

func TestMerchantsMayNameEveryLanguageOfThePage(t *testing.T) {
	t.Parallel()
	var spoken []string
	for _, one := range languages {
		spoken = append(spoken, one.Code)
	}
	if !slices.Equal(spoken, merchant.Languages) {
		t.Errorf("the page speaks %v, and merchants may name %v", spoken, merchant.Languages)
	}
}
