package admin

import (
	"bytes"
	"encoding/base64"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store/listing"
)

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// listBody is a page of any list, as reconciliation has it.
type listBody[T any] struct {
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	Results  []T     `json:"results"`
}

// pageRequest is which part of a list is asked for: so many records beyond an
// id, towards older ones unless it is turned back.
type pageRequest struct {
	beyond uuid.UUID
	back   bool
	size   int

	address    string
	parameters url.Values
}

// readPage reads page_size and cursor.
func (a *Admin) readPage(r *http.Request, query parameters, bad payment.Fields) pageRequest {
	p := pageRequest{size: defaultPageSize, address: a.PublicURL + r.URL.Path, parameters: query.values}
	if text := query.Get("page_size"); text != "" {
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 || size > maxPageSize {
			bad.Add("page_size", "page_size must be from 1 to "+strconv.Itoa(maxPageSize)+".")
		}
		p.size = size
	}
	if text := query.Get("cursor"); text != "" && !p.open(text) {
		bad.Add("cursor", "cursor is not one of this list.")
	}
	return p
}

// A cursor is a letter for the direction, the id, and a mark of the filters that
// it belongs to. It opens nothing that the operator may not see anyway, so it
// need not be sealed.
const (
	towardsOlder = 'n'
	towardsNewer = 'p'
	markBytes    = 4
	cursorBytes  = 1 + len(uuid.UUID{}) + markBytes
)

func (p *pageRequest) open(text string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != cursorBytes || string(raw[cursorBytes-markBytes:]) != string(p.mark()) {
		return false
	}
	p.back, p.beyond = raw[0] == towardsNewer, uuid.UUID(raw[1:1+len(uuid.UUID{})])
	return raw[0] == towardsOlder || raw[0] == towardsNewer
}

// mark stands for the filters, whatever page of them is asked for.
func (p *pageRequest) mark() []byte {
	filters := url.Values{}
	for name, values := range p.parameters {
		if name != "cursor" && name != "page_size" {
			filters[name] = values
		}
	}
	sum := fnv.New32a()
	sum.Write([]byte(filters.Encode()))
	return sum.Sum(nil)
}

func (p *pageRequest) link(direction byte, id uuid.UUID) *string {
	raw := append([]byte{direction}, id[:]...)
	parameters := url.Values{}
	for name, values := range p.parameters {
		parameters[name] = values
	}
	parameters.Set("cursor", base64.RawURLEncoding.EncodeToString(append(raw, p.mark()...)))
	address := p.address + "?" + parameters.Encode()
	return &address
}

// cut takes the part of a list that is all at hand, newest first, which paging
// would have read.
func (p *pageRequest) cut(ids []uuid.UUID) listing.Part[uuid.UUID] {
	from, to, limit := 0, len(ids), p.paging().Limit
	if p.beyond != uuid.Nil {
		at, found := slices.BinarySearchFunc(ids, p.beyond, func(id, beyond uuid.UUID) int { return bytes.Compare(beyond[:], id[:]) })
		from, to = at, at
		if found {
			from++
		}
		if p.back {
			from = 0
		} else {
			to = len(ids)
		}
	}
	if p.back {
		return listing.Part[uuid.UUID]{Rows: ids[max(from, to-limit):to]}
	}
	return listing.Part[uuid.UUID]{Rows: ids[from:min(to, from+limit)]}
}

// paging is what is read of the list: one record more than is shown, which tells
// whether it goes on.
func (p *pageRequest) paging() listing.Paging {
	return listing.Paging{Beyond: p.beyond, Back: p.back, Limit: p.size + 1}
}

// pageOf makes the page of records that were read with paging.
func pageOf[R, T any](p pageRequest, part listing.Part[R], id func(R) uuid.UUID, body func(R) T) listBody[T] {
	records, more := part.Rows, len(part.Rows) > p.size
	if more && p.back {
		records = records[1:]
	}
	records = records[:min(len(records), p.size)]
	page := listBody[T]{Results: make([]T, len(records))}
	for i, record := range records {
		page.Results[i] = body(record)
	}
	first, last := p.ends(part.Reached)
	if len(records) > 0 && (more || p.back) {
		last = id(records[len(records)-1])
	}
	if len(records) > 0 && (more || !p.back) {
		first = id(records[0])
	}
	goesOn := more || part.Reached != uuid.Nil
	if goesOn || p.back {
		page.Next = p.link(towardsOlder, last)
	}
	if goesOn && p.back || !p.back && p.beyond != uuid.Nil {
		page.Previous = p.link(towardsNewer, first)
	}
	return page
}

// ends are where a page begins and ends that has no record there to tell: in one
// direction where the search has stopped, in the other where one came from, with
// the record there.
func (p *pageRequest) ends(reached uuid.UUID) (first, last uuid.UUID) {
	from := listing.Position{ID: p.beyond}
	if p.back {
		return reached, from.Above().ID
	}
	return from.Below().ID, reached
}
