package sepa

import "testing"

func TestValidBIC(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"COBADEFF", "COBADEFFXXX", "PSSTFRPP", "BYLADEM1001", "N26BDEB1"} {
		if !ValidBIC(text) {
			t.Errorf("%s is refused", text)
		}
	}
	for _, text := range []string{"", "COBADEF", "COBADEFFX", "COBADEFFXXXX", "cobadeff", "COBA1EFF", "COBAD1FF", "COBADEF ", "COBADEFFXX\xff"} {
		if ValidBIC(text) {
			t.Errorf("%q is accepted", text)
		}
	}
}
