package iso20022

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Limits on what one delivery may unpack to: more is an attack, not a bank.
const (
	maxMembers       = 10_000
	maxUnpackedBytes = 4 << 30
)

// ErrTooLarge is returned for a container that unpacks to more than any bank sends.
var ErrTooLarge = errors.New("iso20022: the container holds more than can be a bank's")

// Unpack calls each with every message of a delivery: the file itself or, when it is a zip as German banks deliver
// them, the files in it in their order.
func Unpack(name string, file io.ReaderAt, size int64, each func(name string, content io.Reader) error) error {
	head := make([]byte, 4)
	if n, _ := file.ReadAt(head, 0); !bytes.Equal(head[:n], []byte("PK\x03\x04")) {
		return each(name, io.NewSectionReader(file, 0, size))
	}
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return fmt.Errorf("iso20022: %s is no readable zip: %w", name, err)
	}
	if len(archive.File) > maxMembers {
		return ErrTooLarge
	}
	left := int64(maxUnpackedBytes)
	for _, member := range archive.File {
		if member.FileInfo().IsDir() || isLitter(member.Name) {
			continue
		}
		if left, err = unpackMember(member, left, each); err != nil {
			return err
		}
	}
	return nil
}

// isLitter tells what archiving programs leave between the files.
func isLitter(name string) bool {
	return strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(path.Base(name), ".")
}

func unpackMember(member *zip.File, left int64, each func(name string, content io.Reader) error) (int64, error) {
	content, err := member.Open()
	if err != nil {
		return left, fmt.Errorf("iso20022: %s cannot be unpacked: %w", member.Name, err)
	}
	defer content.Close()
	limited := &limitedReader{content: content, left: left}
	err = each(path.Base(member.Name), limited)
	return limited.left, err
}

// limitedReader fails instead of ending early: half a statement must not look like a whole one.
type limitedReader struct {
	content io.Reader
	left    int64
}

func (r *limitedReader) Read(p []byte) (int, error) {
	n, err := r.content.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
