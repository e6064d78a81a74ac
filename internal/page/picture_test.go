package page

import (
	"bytes"
	"encoding/base64"
	"image"
	standard "image/color"
	"image/png"
	"io"
	"testing"
	"time"
)

// drawn is a picture of one colour with nothing around it.
func drawn(t *testing.T, width, height int, ink standard.Color) []byte {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	for x := range width / 2 {
		for y := range height {
			picture.Set(x, y, ink)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestALogoIsLookedAt(t *testing.T) {
	t.Parallel()
	red := standard.NRGBA{R: 0xe0, G: 0x30, B: 0x30, A: 0xff}
	packed := func(text string) []byte {
		picture, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return picture
	}
	var whole bytes.Buffer
	if err := png.Encode(&whole, image.NewGray(image.Rect(0, 0, 100, 20))); err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		kind    string
		picture []byte
		want    pictureLook
	}{
		"a white wordmark":                  {"image/png", drawn(t, 120, 30, standard.White), pictureLook{tone: toneLight}},
		"a black symbol":                    {"image/png", drawn(t, 30, 30, standard.Black), pictureLook{tone: toneDark, isSymbol: true}},
		"a red wordmark":                    {"image/png", drawn(t, 120, 30, red), pictureLook{}},
		"a picture with its own ground":     {"image/png", whole.Bytes(), pictureLook{}},
		"a white wordmark as WebP":          {"image/webp", packed("UklGRioAAABXRUJQVlA4TB0AAAAvIwACEA8w//M///Mf8CATsBj6Z94vQUT/Qwc3AAA="), pictureLook{tone: toneLight}},
		"a black symbol as WebP":            {"image/webp", packed("UklGRiIAAABXRUJQVlA4TBYAAAAvC8ACEA8QEfMfQiCQZLa/2QgR/Y9M"), pictureLook{tone: toneDark, isSymbol: true}},
		"no picture at all":                 {"image/png", []byte("x"), pictureLook{}},
		"a drawing without colours":         {"image/svg+xml", []byte(`<svg viewBox="0 0 24 24"><path/></svg>`), pictureLook{tone: toneDark, isSymbol: true}},
		"a white drawing":                   {"image/svg+xml", []byte(`<svg viewBox="0 0 200 40"><path fill="#fff"/></svg>`), pictureLook{tone: toneLight}},
		"a violet drawing":                  {"image/svg+xml", []byte(`<svg viewBox="0 0 200 40"><path fill="#7c3aed"/></svg>`), pictureLook{}},
		"a violet symbol with a black word": {"image/svg+xml", []byte(`<svg viewBox="0,0,200,40"><path fill="#7c3aed"/><text fill="#111827"/></svg>`), pictureLook{tone: toneDark}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := lookAt(one.kind, one.picture); got != one.want {
				t.Errorf("got %+v, want %+v", got, one.want)
			}
		})
	}
}

func TestAReaderOfPicturesThatStumblesStopsNobody(t *testing.T) {
	t.Parallel()
	image.RegisterFormat("hostile", "HOSTILE", func(io.Reader) (image.Image, error) { panic("out of range") },
		func(io.Reader) (image.Config, error) { return image.Config{Width: 1, Height: 1}, nil })
	if look := lookAt("image/png", []byte("HOSTILE")); look != (pictureLook{}) {
		t.Errorf("it was seen as %+v", look)
	}
}

// manyScans is a photograph that tells each of its four million pixels again and again, a few bytes each time.
func manyScans(scans int) []byte {
	const side = 2048
	segment := func(marker byte, content ...byte) []byte {
		return append([]byte{0xff, marker, 0, byte(len(content) + 2)}, content...)
	}
	table := func(class, value byte) []byte {
		return segment(0xc4, append([]byte{class, 1}, append(make([]byte, 15), value)...)...)
	}
	picture := bytes.Join([][]byte{
		{0xff, 0xd8}, segment(0xdb, make([]byte, 65)...),
		segment(0xc2, 8, side>>8, side&0xff, side>>8, side&0xff, 1, 1, 0x11, 0), table(0, 0), table(0x10, 0xe0),
	}, nil)
	scan := append(segment(0xda, 1, 1, 0, 1, 63, 0), 0x7f, 0xfe, 0xff, 0, 0xfd, 0xff, 0, 0xff, 0)
	return append(append(picture, bytes.Repeat(scan, scans)...), 0xff, 0xd9)
}

// TestAPhotographIsNotUnpacked has a merchant name a picture that would take a processor for long.
func TestAPhotographIsNotUnpacked(t *testing.T) {
	t.Parallel()
	const scans, most = 4000, 2 * time.Second
	began := time.Now()
	if look := lookAt("image/jpeg", manyScans(scans)); look != (pictureLook{isSymbol: true}) {
		t.Errorf("it was seen as %+v", look)
	}
	if took := time.Since(began); took > most {
		t.Errorf("looking at it took %s", took)
	}
}
