package web

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// TestAFormBesideAFileIsBounded: what stands beside a file is held in memory.
func TestAFormBesideAFileIsBounded(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upload, err := ReadUpload(w, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		size, err := io.Copy(io.Discard, upload.File)
		_, _ = io.WriteString(w, strconv.Itoa(len(upload.fields))+" "+strconv.FormatInt(size, 10)+" "+strconv.FormatBool(err == nil))
	}))
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		fields, length int
		want           string
	}{
		"as much as there may be": {maxFormFields, maxFormField, strconv.Itoa(maxFormFields) + " 100000 true"},
		"too many fields":         {maxFormFields + 1, 1, errUploadBroken.Error() + "\n"},
		"too long a field":        {1, maxFormField + 1, errUploadBroken.Error() + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var body bytes.Buffer
			form := multipart.NewWriter(&body)
			for i := range c.fields {
				if err := form.WriteField("field "+strconv.Itoa(i), strings.Repeat("x", c.length)); err != nil {
					t.Fatal(err)
				}
			}
			file, err := form.CreateFormFile("file", "../../etc/passwd")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = file.Write(make([]byte, 100_000))
			form.Close()
			response, err := http.Post(server.URL, form.FormDataContentType(), &body)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if got, err := io.ReadAll(response.Body); err != nil || string(got) != c.want {
				t.Errorf("got %q, want %q: %v", got, c.want, err)
			}
		})
	}
}
