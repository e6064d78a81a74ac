package place

import (
	"errors"
	"io"
	"os"
)

// ErrTooLarge says that more came than is taken, and ErrChanged that a file is still being written.
var (
	ErrTooLarge = errors.New("the bank's file is too large")
	ErrChanged  = errors.New("the file has changed while it was read")
)

// Spool keeps what comes as a stream in a file that nobody else can find, and that is gone with this process. It gives
// ErrTooLarge for more than so many bytes.
func Spool(from io.Reader, most int64) (*os.File, error) {
	file, err := os.CreateTemp("", "sepad-bank-*")
	if err != nil {
		return nil, err
	}
	count, err := io.Copy(file, io.LimitReader(from, most+1))
	if err == nil && count > most {
		err = ErrTooLarge
	}
	if err = errors.Join(os.Remove(file.Name()), err); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
