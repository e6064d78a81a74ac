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
	"time"
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

// TestAFileThatStandsStillIsGivenUp: neither the sender nor whoever ends the process waits for it for ever. One that goes on
// has the time that it needs, and so has whoever reads it.
func TestAFileThatStandsStillIsGivenUp(t *testing.T) {
	t.Parallel()
	const patience = 100 * time.Millisecond
	halfRead, left := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upload, err := readUpload(w, r, patience)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := io.ReadFull(upload.File, make([]byte, 4)); err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/whole" {
			if _, err := io.Copy(io.Discard, upload.File); err != nil {
				t.Error(err)
			}
			select {
			case <-r.Context().Done():
				t.Error("whoever waits for the answer counts as one who left")
			case <-time.After(2 * patience):
			}
			return
		}
		close(halfRead)
		_, err = io.Copy(io.Discard, upload.File)
		http.Error(w, err.Error(), http.StatusBadRequest)
		close(left)
	}))
	t.Cleanup(server.Close)
	body, sender := io.Pipe()
	form := multipart.NewWriter(sender)
	go func() {
		file, _ := form.CreateFormFile("file", "name")
		_, _ = file.Write([]byte("half"))
		<-halfRead
		<-left
		sender.Close()
	}()
	response, err := http.Post(server.URL, form.FormDataContentType(), body)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got, err := io.ReadAll(response.Body); err != nil || string(got) != errUploadStill.Error()+"\n" {
		t.Errorf("got %q: %v", got, err)
	}
	whole := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"name\"\r\n\r\nall of it\r\n--x--\r\n"
	response, err = http.Post(server.URL+"/whole", "multipart/form-data; boundary=x", strings.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}
