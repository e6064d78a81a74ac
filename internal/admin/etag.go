package admin

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/web"
)

// errChanged is the answer to a change that was meant for another version.
var errChanged = &web.StatusError{
	Status: http.StatusPreconditionFailed, Detail: "This has changed since it was read: read it again.",
}

// entityTag names a version of a record.
func entityTag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// writeRecord answers with a record of a set-up and its version.
func writeRecord(w http.ResponseWriter, r *http.Request, status int, of *merchant.Setup, id uuid.UUID, fields merchant.Fields) {
	w.Header().Set("ETag", entityTag(of.Versions[id]))
	web.WriteJSON(w, r, status, fields)
}

// checkVersion refuses a change that was meant for a version which is no more
// (If-Match, RFC 9110 13.1.1). A call that names none is always meant.
func checkVersion(r *http.Request, version int64) error {
	conditions := r.Header.Values("If-Match")
	if len(conditions) == 0 {
		return nil
	}
	for tag := range strings.SplitSeq(strings.Join(conditions, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || tag == entityTag(version) {
			return nil
		}
	}
	return errChanged
}

// changeOne applies a change of one record to its tenant's set-up, in the version
// that the call names.
func (a *Admin) changeOne(r *http.Request, tenantID, id uuid.UUID, change func(*merchant.Setup) error) (*merchant.Setup, error) {
	of, _, err := a.Applier.Change(r.Context(), tenantID, a.Real.Now(), func(s *merchant.Setup) error {
		if version, known := s.Versions[id]; known {
			if err := checkVersion(r, version); err != nil {
				return err
			}
		}
		return change(s)
	})
	return of, err
}
