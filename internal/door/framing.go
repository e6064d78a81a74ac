package door

import (
	"bytes"
	"strconv"
)

// longestHead is how much of a head is remembered that comes in pieces.
const longestHead = 8 << 10

// framing follows where requests begin and end on a connection.
type framing struct {
	// head is what has come of one that is not yet whole.
	head []byte
	// missing is what is still to come of a body.
	missing int
	// isLost tells that something came which is not understood here. It stays so.
	isLost bool
}

// follow takes note of what has been read. It gives a request that has come as a whole with this piece, from its first
// byte to its last, and nothing beside it.
func (f *framing) follow(piece []byte) (r Request, isWhole bool) {
	switch {
	case f.isLost:
		return r, false
	case f.missing > 0:
		f.missing -= len(piece)
		f.isLost = f.missing < 0
		return r, false
	}
	head, begun := piece, len(f.head) > 0
	if begun {
		f.head = append(f.head, piece...)
		head = f.head
	}
	end := bytes.Index(head, []byte("\r\n\r\n"))
	if end < 0 {
		f.remember(piece, begun)
		return r, false
	}
	rest := len(head) - end - len("\r\n\r\n")
	r, length, isPlain := parseHead(head[:end+len("\r\n")])
	f.head, f.missing = nil, length-rest
	f.isLost = !isPlain || f.missing < 0
	return r, !f.isLost && !begun && f.missing == 0
}

// isWithin tells that more may come of a request that has begun.
func (f *framing) isWithin() bool {
	return f.isLost || f.missing > 0 || len(f.head) > 0
}

// remember keeps a piece of a head, but not of one without end.
func (f *framing) remember(piece []byte, isAppended bool) {
	if !isAppended {
		f.head = bytes.Clone(piece)
	}
	if len(f.head) > longestHead {
		f.head, f.isLost = nil, true
	}
}

// parseHead reads the lines of a head, each with its end. It is plain when nobody could understand it in another way: no
// header says anything about the body but one Content-Length, and nothing asks for the connection to be used otherwise.
func parseHead(head []byte) (r Request, length int, isPlain bool) {
	line, head, _ := bytes.Cut(head, []byte("\r\n"))
	if r, isPlain = parseFirst(line); !isPlain {
		return r, 0, false
	}
	hasLength := false
	for len(head) > 0 {
		line, head, _ = bytes.Cut(head, []byte("\r\n"))
		name, value, isHeader := cutHeader(line)
		if !isHeader {
			return r, 0, false
		}
		switch {
		case is(name, "content-length"):
			if length, isPlain = parseLength(value); !isPlain || hasLength {
				return r, 0, false
			}
			hasLength = true
		case is(name, "connection"):
			if !is(value, "keep-alive") {
				return r, 0, false
			}
		case is(name, "transfer-encoding"), is(name, "upgrade"), is(name, "expect"), is(name, "trailer"):
			return r, 0, false
		case is(name, "origin"):
			r.FromPage = true
		case is(name, "x-request-id"):
			if r.ID == nil {
				r.ID = value
			}
		}
	}
	return r, length, true
}

// parseFirst reads the first line: a method in capitals, a path, and the one version that is known.
func parseFirst(line []byte) (r Request, isPlain bool) {
	line, isKnown := bytes.CutSuffix(line, []byte(" HTTP/1.1"))
	method, path, hasPath := bytes.Cut(line, []byte(" "))
	if !isKnown || !hasPath || len(method) == 0 || len(path) == 0 || path[0] != '/' {
		return r, false
	}
	for _, c := range method {
		if c < 'A' || c > 'Z' {
			return r, false
		}
	}
	for _, c := range path {
		if c <= ' ' || c >= 0x7f {
			return r, false
		}
	}
	return Request{Method: method, Path: path}, true
}

// cutHeader reads one line: a name of letters, digits and dashes, and a value that can be seen.
func cutHeader(line []byte) (name, value []byte, ok bool) {
	name, value, ok = bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 {
		return nil, nil, false
	}
	for _, c := range name {
		if letter := c | 0x20; (letter < 'a' || letter > 'z') && (c < '0' || c > '9') && c != '-' {
			return nil, nil, false
		}
	}
	for _, c := range value {
		if c < ' ' || c >= 0x7f {
			return nil, nil, false
		}
	}
	return name, bytes.Trim(value, " "), true
}

func parseLength(value []byte) (int, bool) {
	const mostDigits = 9
	if len(value) == 0 || len(value) > mostDigits {
		return 0, false
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	length, err := strconv.Atoi(string(value))
	return length, err == nil
}

// is compares without regard to capitals. The word has none.
func is(text []byte, word string) bool {
	return len(text) == len(word) && bytes.EqualFold(text, []byte(word))
}
