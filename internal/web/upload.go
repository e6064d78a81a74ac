package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"time"

	"sepad/internal/clock"
	"sepad/internal/payment"
)

const (
	// MaxUpload is the largest body of a call that hands in a file.
	MaxUpload = 1 << 30
	// uploadPatience is for how long nothing of it may come.
	uploadPatience = time.Minute
)

// maxFormField bounds the text of a field beside the file, and maxFormFields how
// many there are: they are held in memory.
const (
	maxFormField  = 4 << 10
	maxFormFields = 16
)

var (
	errUploadType     = &StatusError{Status: http.StatusUnsupportedMediaType, Detail: "The request body must be multipart/form-data."}
	errUploadTooLarge = &StatusError{Status: http.StatusRequestEntityTooLarge, Detail: "The request body is larger than 1 GiB."}
	errUploadStill    = &payment.Error{Kind: payment.Invalid, Detail: "The form could not be read to its end: nothing of it came for a minute."}
	errUploadBroken   = &payment.Error{Kind: payment.Invalid, Detail: "The form could not be read to its end."}
)

// Upload is a form whose last part is a file that is read as it arrives.
type Upload struct {
	fields map[string]string
	File   io.Reader
}

// Field gives a field of the form.
func (u *Upload) Field(name string) string { return u.fields[name] }

// ReadUpload reads a form up to its file. The file is not held anywhere: it must
// be the last part, so that everything about it is known when it comes. Its
// transfer may take longer than an ordinary call, as long as it goes on.
func ReadUpload(w http.ResponseWriter, r *http.Request) (*Upload, error) {
	return readUpload(w, r, uploadPatience)
}

func readUpload(w http.ResponseWriter, r *http.Request, patience time.Duration) (*Upload, error) {
	if r.ContentLength > MaxUpload {
		return nil, errUploadTooLarge
	}
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Time{}); err != nil {
		return nil, err
	}
	r.Body = http.MaxBytesReader(w, &moving{ReadCloser: r.Body, control: control, patience: patience}, MaxUpload)
	form, err := r.MultipartReader()
	if err != nil {
		return nil, errUploadType
	}
	upload := &Upload{fields: map[string]string{}}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, payment.Fields{"file": "file is required, as the last part of the form."}.Err()
		}
		if err != nil {
			return nil, uploadFault(err)
		}
		if len(upload.fields) == maxFormFields && part.FormName() != "file" {
			return nil, errUploadBroken
		}
		if part.FormName() == "file" {
			upload.File = fileOf(part)
			return upload, nil
		}
		text, err := io.ReadAll(io.LimitReader(part, maxFormField+1))
		if err != nil || len(text) > maxFormField {
			return nil, errUploadBroken
		}
		upload.fields[part.FormName()] = string(text)
	}
}

// moving is a body of which something has to come again and again. Whoever reads it takes the time that he needs.
type moving struct {
	io.ReadCloser
	control  *http.ResponseController
	patience time.Duration
}

func (m *moving) Read(into []byte) (int, error) {
	if err := m.control.SetReadDeadline(clock.Real{}.Now().Add(m.patience)); err != nil {
		return 0, err
	}
	return m.ReadCloser.Read(into)
}

// uploadFault is the answer to a form that could not be read.
func uploadFault(err error) error {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errUploadTooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errUploadStill
	}
	return BodyFault(err, errUploadBroken)
}

// fileOf tells a file that broke off or is too large from one that has ended.
func fileOf(part *multipart.Part) io.Reader { return &uploadedFile{part} }

type uploadedFile struct{ part *multipart.Part }

func (f *uploadedFile) Read(into []byte) (int, error) {
	n, err := f.part.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, uploadFault(err)
	}
	return n, err
}
