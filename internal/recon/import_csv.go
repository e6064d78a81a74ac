package recon

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// maxRecord bounds a line of a file, so that one quote that is never closed does
// not make us hold all of it.
const maxRecord = 1 << 20

// maxColumns bounds the fields of a line: each of them takes more memory than the comma that makes it.
const maxColumns = 1_000

var (
	errRecordTooWide = errors.New("The line has more than 1000 columns.")
	errRecordTooLong = errors.New("The line is longer than 1 MiB, or a quote in it is never closed.")
	errRecordQuotes  = errors.New("The quotes in this line do not match.")
)

// csvReader reads a processor's CSV record by record without holding more than
// one. Comma, semicolon and tab are told from the header; quoting is that of
// RFC 4180. Texts that are no UTF-8 are taken for Windows-1252, field by field,
// so that the file need not be read twice.
type csvReader struct {
	in        *bufio.Reader
	delimiter byte
	line      int // of the last line read
	record    []byte
	fields    [][]byte
}

// newCSVReader looks at the first line and leaves it to be read.
func newCSVReader(in io.Reader) *csvReader {
	const look = 64 << 10
	r := &csvReader{in: bufio.NewReaderSize(in, 4*look), delimiter: ','}
	if start, _ := r.in.Peek(3); bytes.Equal(start, []byte("\xEF\xBB\xBF")) {
		_, _ = r.in.Discard(len(start)) // just looked at
	}
	head, _ := r.in.Peek(look) // a file may be shorter
	if end := bytes.IndexByte(head, '\n'); end >= 0 {
		head = head[:end]
	}
	for _, other := range []byte{';', '\t'} {
		if bytes.Count(head, []byte{other}) > bytes.Count(head, []byte{r.delimiter}) {
			r.delimiter = other
		}
	}
	return r
}

// next gives the fields of the next record and the line on which it begins. The
// fields are good until the next call. An error other than io.EOF and those of
// the file itself concerns this record alone.
func (r *csvReader) next() (fields [][]byte, line int, err error) {
	for {
		text, err := r.readLine()
		if err != nil {
			return nil, r.line, err
		}
		if len(text) > 0 {
			return r.split(text)
		}
	}
}

// isFault tells an error that concerns one record from one that ends the file.
func isFault(err error) bool {
	return errors.Is(err, errRecordTooLong) || errors.Is(err, errRecordTooWide) || errors.Is(err, errRecordQuotes)
}

// breaksOff tells that a file could not be read to its end: what was read of its last line is none.
func breaksOff(err error) bool {
	return err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull)
}

// readLine gives a line without its end.
func (r *csvReader) readLine() ([]byte, error) {
	text, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return r.readLongLine(text)
	}
	if len(text) == 0 || breaksOff(err) {
		return nil, err
	}
	r.line++
	return bytes.TrimRight(text, "\r\n"), nil
}

func (r *csvReader) readLongLine(start []byte) ([]byte, error) {
	long := bytes.Clone(start)
	for {
		text, err := r.in.ReadSlice('\n')
		if breaksOff(err) {
			return nil, err
		}
		if len(long) <= maxRecord {
			long = append(long, text...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		r.line++
		if len(long) > maxRecord {
			return nil, errRecordTooLong
		}
		return bytes.TrimRight(long, "\r\n"), nil
	}
}

// split cuts a line into fields; one with quotes may go on in the next lines.
func (r *csvReader) split(text []byte) ([][]byte, int, error) {
	line := r.line
	r.fields = r.fields[:0]
	if bytes.IndexByte(text, '"') < 0 {
		for {
			end := bytes.IndexByte(text, r.delimiter)
			if len(r.fields) == maxColumns {
				return r.fields, line, errRecordTooWide
			}
			if end < 0 {
				r.fields = append(r.fields, text)
				return r.fields, line, nil
			}
			r.fields, text = append(r.fields, text[:end]), text[end+1:]
		}
	}
	err := r.splitQuoted(text)
	return r.fields, line, err
}

// splitQuoted takes quotes away as it goes. The record is gathered in one piece
// of memory, and cut when all of it is there.
func (r *csvReader) splitQuoted(text []byte) error {
	r.record = append(r.record[:0], text...)
	var ends []int
	out, i, quoted := 0, 0, false // out is how much of record is finished
	for {
		if i == len(r.record) {
			if !quoted {
				break
			}
			more, err := r.readLine()
			if breaksOff(err) && !isFault(err) {
				return err
			}
			if err != nil || len(r.record)+len(more) > maxRecord {
				return errRecordTooLong
			}
			r.record = append(append(r.record, '\n'), more...)
		}
		c := r.record[i]
		switch {
		case c == '"' && quoted && i+1 < len(r.record) && r.record[i+1] == '"':
			r.record[out], out, i = '"', out+1, i+1
		case c == '"' && quoted:
			quoted = false
			if i+1 < len(r.record) && r.record[i+1] != r.delimiter {
				return errRecordQuotes
			}
		case c == '"' && (i == 0 || r.record[i-1] == r.delimiter):
			quoted = true
		case c == r.delimiter && !quoted && len(ends) == maxColumns-1:
			return errRecordTooWide
		case c == r.delimiter && !quoted:
			ends = append(ends, out)
		default:
			r.record[out], out = c, out+1
		}
		i++
	}
	start := 0
	for _, end := range append(ends, out) {
		r.fields, start = append(r.fields, r.record[start:end]), end
	}
	return nil
}

// decodeText gives a field as text without the white space around it.
func decodeText(field []byte) string {
	field = bytes.TrimSpace(field)
	if utf8.Valid(field) {
		return string(field)
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(field)
	if err != nil {
		return string(bytes.ToValidUTF8(field, []byte("\uFFFD")))
	}
	return string(bytes.TrimSpace(text))
}

// AppendCSVText writes a text as a cell, guarded as in exports.
func AppendCSVText(dst []byte, text string) []byte { return appendCellText(dst, text) }
