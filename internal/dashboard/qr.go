package dashboard

import (
	"strconv"
	"strings"

	"rsc.io/qr"
)

// qrCode is a picture as a path of squares, so that a page needs nothing but itself.
type qrCode struct {
	Size int
	Path string
}

// quiet is the white around a code that readers need.
const quiet = 4

func newQRCode(text string) (qrCode, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return qrCode{}, err
	}
	var path strings.Builder
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				path.WriteString("M" + strconv.Itoa(x+quiet) + " " + strconv.Itoa(y+quiet) + "h1v1h-1z")
			}
		}
	}
	return qrCode{code.Size + 2*quiet, path.String()}, nil
}
