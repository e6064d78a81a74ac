package web

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"sepad/internal/payment"
)

// MaxBody is the largest request body in bytes.
const MaxBody = 64 << 10

var (
	errBodyTooLarge = &StatusError{Status: http.StatusRequestEntityTooLarge, Detail: "The request body is larger than 64 KiB."}
	errMediaType    = &StatusError{Status: http.StatusUnsupportedMediaType, Detail: "The request body must be application/json."}
	errUnreadable   = &payment.Error{Kind: payment.Invalid, Detail: "The request body could not be read to its end."}
)

// DecodeObject reads the body of a request, which must be a JSON object.
func DecodeObject(w http.ResponseWriter, r *http.Request) (*Object, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	if body == "" && r.Header.Get("Content-Type") == "" {
		return nil, errNotObject
	}
	if !isJSON(r.Header) {
		return nil, errMediaType
	}
	if body == "" {
		return nil, errNotObject
	}
	return ParseObject(body)
}

// DecodeOptionalObject is DecodeObject for endpoints whose body may be left out.
// An empty body is an object without members, whatever its media type: many
// clients name one of their own for a body that they do not send.
func DecodeOptionalObject(w http.ResponseWriter, r *http.Request) (*Object, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	if strings.Trim(body, " \t\r\n") == "" {
		return &Object{}, nil
	}
	if !isJSON(r.Header) {
		return nil, errMediaType
	}
	return ParseObject(body)
}

// ReadBody reads the bytes of a body whose form only somebody else knows.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := readBody(w, r)
	return []byte(body), err
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func readBody(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.ContentLength > MaxBody {
		return "", errBodyTooLarge
	}
	buffer := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(buffer)
	buffer.Reset()
	_, err := buffer.ReadFrom(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return "", errBodyTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", BodyFault(err, errUnreadable)
	}
	return buffer.String(), nil
}

// isJSON accepts application/json in UTF-8 and uncompressed, which is the only
// form in which a body is read.
func isJSON(header http.Header) bool {
	if coding := header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return false
	}
	const plain = "application/json"
	contentType := header.Get("Content-Type")
	if contentType == plain {
		return true
	}
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != plain {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")
}
