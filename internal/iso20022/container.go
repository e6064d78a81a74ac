package iso20022

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
)

// Limits on what one delivery may unpack to: more is an attack, not a bank.
const (
	maxMembers       = 10_000
	maxUnpackedBytes = 4 << 30
	// Messages are packed to a twentieth or a fiftieth; what is kept of a small
	// archive must not fill the disk.
	maxPackedRatio = 200
	alwaysUnpacked = 16 << 20
	// The list of an archive's files is held as a whole.
	maxDirectoryBytes = 4 << 20
)

// ErrUnreadable is returned for a container that is broken: it says the same however often it is read.
var ErrUnreadable = errors.New("iso20022: the container cannot be read")

// ErrTooLarge is returned for a container that unpacks to more than any bank sends.
var ErrTooLarge = errors.New("iso20022: the container holds more than can be a bank's")

// Member is one message of a delivery.
type Member struct {
	Name string
	// Open reads it from its beginning, as often as it takes.
	Open func() (io.ReadCloser, error)
}

// Unpack calls each with every message of a delivery: the file itself or, when it is a zip as German banks deliver
// them, the files in it in their order.
func Unpack(name string, file io.ReaderAt, size int64, each func(Member) error) error {
	head := make([]byte, 4)
	if n, _ := file.ReadAt(head, 0); !bytes.Equal(head[:n], []byte("PK\x03\x04")) {
		return each(Member{name, func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(file, 0, size)), nil }})
	}
	directory := &directoryReader{ReaderAt: file, left: maxDirectoryBytes}
	archive, err := zip.NewReader(directory, size)
	switch {
	case directory.left < 0, err == nil && len(archive.File) > maxMembers:
		return ErrTooLarge
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	directory.left = math.MaxInt64
	left := min(maxUnpackedBytes, alwaysUnpacked+maxPackedRatio*size)
	for _, member := range archive.File {
		if member.FileInfo().IsDir() || isLitter(member.Name) {
			continue
		}
		most := int64(0)
		err := each(Member{path.Base(member.Name), func() (io.ReadCloser, error) { return unpack(member, left, &most) }})
		if err != nil {
			return err
		}
		left -= most
	}
	return nil
}

// directoryReader ends the reading of an archive's list that is longer than any bank's.
type directoryReader struct {
	io.ReaderAt
	left int64
}

func (r *directoryReader) ReadAt(p []byte, at int64) (int, error) {
	if r.left -= int64(len(p)); r.left < 0 {
		return 0, ErrTooLarge
	}
	return r.ReaderAt.ReadAt(p, at)
}

// isLitter tells what archiving programs leave between the files.
func isLitter(name string) bool {
	return strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(path.Base(name), ".")
}

func unpack(member *zip.File, left int64, most *int64) (io.ReadCloser, error) {
	content, err := member.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return &limitedReader{ReadCloser: content, left: left, most: most}, nil
}

// limitedReader fails instead of ending early: half a statement must not look like a whole one.
type limitedReader struct {
	io.ReadCloser
	read, left int64
	most       *int64 // what was read of the member at most
}

func (r *limitedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.read += int64(n)
	if *r.most = max(*r.most, r.read); r.read > r.left {
		return 0, ErrTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return n, err
}
