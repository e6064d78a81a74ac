package sepa

import "testing"

func TestMaskText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		germanIBAN:                    germanMask,
		"DE89 3704 0044 0532 0130 00": germanMask,
		germanMask:                    germanMask,
		"123456":                      "***456",
		"12":                          "*2",
		"1":                           "*",
		"":                            "",
		"Übergröße":                   "*****röße",
	} {
		if got := MaskText(text); got != want {
			t.Errorf("MaskText(%q) = %q, want %q", text, got, want)
		}
	}
}
