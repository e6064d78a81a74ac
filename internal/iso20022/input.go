package iso20022

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// newDecoder reads XML as banks send it: in any of their encodings, with bytes that are no character of it, and with
// characters that XML forbids. Both become something harmless, because a returned debit must not be lost over a broken
// name.
func newDecoder(input io.Reader) *decoder {
	buffered := bufio.NewReaderSize(input, bufferSize)
	metered := &meter{Reader: transform.NewReader(decode(buffered), harmless{})}
	d := &decoder{Decoder: xml.NewDecoder(metered), meter: metered}
	d.Strict = false
	d.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // decode has done it
	return d
}

const (
	// maxPiece bounds a text, a comment or a tag: more is an attack, for the XML reader holds each as a whole.
	maxPiece = 1 << 20
	// maxHeld bounds what is held of a file at a time, which is a booking with all its payments: a hundred thousand of
	// them have their place.
	maxHeld = 512 << 20
	// maxBeside is what files may hold that are read beside each other.
	maxBeside = 32 << 20
	// elementWeight is about what an element takes beside its text.
	elementWeight = 128
)

// decoder is the XML reader with a bound for each piece, and for what is made of them.
type decoder struct {
	*xml.Decoder
	meter *meter
	depth int
	// held is what was made of the file and is still needed. Whoever needs it no more puts it back to what it was.
	held    int
	isHeavy bool
}

// heavy is whoever holds more than maxBeside: of several who send large bookings at once, one is read.
var heavy sync.Mutex

// hold counts what is kept.
func (d *decoder) hold(bytes int) error {
	d.held += bytes
	if d.held > maxHeld {
		return fmt.Errorf("iso20022: a booking of more than %d bytes", maxHeld)
	}
	if d.held > maxBeside && !d.isHeavy {
		heavy.Lock()
		d.isHeavy = true
	}
	return nil
}

// end lets the next one hold much.
func (d *decoder) end() {
	if d.isHeavy {
		heavy.Unlock()
	}
}

// Token gives the next piece. Elements nest as deep as in no message before the file is given up.
func (d *decoder) Token() (xml.Token, error) {
	d.meter.read = 0
	token, err := d.Decoder.Token()
	switch token.(type) {
	case xml.StartElement:
		if d.depth++; d.depth > maxDepth {
			return nil, fmt.Errorf("iso20022: elements nest deeper than %d", maxDepth)
		}
	case xml.EndElement:
		d.depth--
	}
	return token, err
}

// meter counts what is read for one piece, and what the reader buffers beyond it.
type meter struct {
	io.Reader
	read int
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if m.read += n; m.read > 2*maxPiece {
		return 0, fmt.Errorf("iso20022: a piece of more than %d bytes", maxPiece)
	}
	return n, err
}

var declaredEncoding = regexp.MustCompile(`^<\?xml[^>]*encoding=["']([A-Za-z0-9._-]+)["']`)

// decode turns what the file says that it is written in into UTF-8.
func decode(input *bufio.Reader) io.Reader {
	head, _ := input.Peek(200)
	if bytes.HasPrefix(head, []byte{0xFE, 0xFF}) || bytes.HasPrefix(head, []byte{0xFF, 0xFE}) {
		return transform.NewReader(input, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder())
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	label := ""
	if match := declaredEncoding.FindSubmatch(head); match != nil {
		label = strings.ToLower(string(match[1]))
	}
	if table := singleByte[label]; table != nil {
		return transform.NewReader(input, table.NewDecoder())
	}
	return input
}

var singleByte = map[string]encoding.Encoding{
	"iso-8859-1": charmap.Windows1252, "latin1": charmap.Windows1252, "windows-1252": charmap.Windows1252,
	"iso-8859-2": charmap.ISO8859_2, "windows-1250": charmap.Windows1250, "iso-8859-15": charmap.ISO8859_15,
	"iso-8859-7": charmap.ISO8859_7, "windows-1253": charmap.Windows1253, "windows-1251": charmap.Windows1251,
}

// harmless puts something harmless in the place of what is no character, or none of XML. Most of a file is plain letters
// and signs, which go through as they are.
type harmless struct{ transform.NopResetter }

func (harmless) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		run := plainRun(src[nSrc:])
		copied := copy(dst[nDst:], src[nSrc:nSrc+run])
		nDst, nSrc = nDst+copied, nSrc+copied
		if copied < run {
			return nDst, nSrc, transform.ErrShortDst
		}
		if nSrc == len(src) {
			break
		}
		if !atEOF && !utf8.FullRune(src[nSrc:]) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		r, size := utf8.DecodeRune(src[nSrc:])
		if r < ' ' || r == 0xFFFE || r == 0xFFFF {
			r = ' '
		}
		if len(dst)-nDst < utf8.RuneLen(r) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst, nSrc = nDst+utf8.EncodeRune(dst[nDst:], r), nSrc+size
	}
	return nDst, nSrc, nil
}

// plainRun counts the plain letters and signs that a text begins with.
func plainRun(text []byte) int {
	for i, c := range text {
		if c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return i
		}
	}
	return len(text)
}
