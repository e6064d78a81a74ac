package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sepad/internal/admin"
	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/limit"
	"sepad/internal/people"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

// office is the operator's API as commands ask it: in this process, on the same
// database. What a command shows or changes is what the API does, its filters and
// its refusals included, whether or not a server runs.
type office struct {
	program *program
	store   *store.Store
	handler http.Handler
	token   string
}

// office opens the data for a command that asks the operator's API.
func (f dataFlags) office(p *program, work func(*office) error) error {
	return f.use(p, func(st *store.Store, access config.Access) error {
		o, err := newOffice(p, st, access)
		if err != nil {
			return err
		}
		return work(o)
	})
}

func newOffice(p *program, st *store.Store, access config.Access) (*office, error) {
	service, err := serviceClock(p, st, access)
	if err != nil {
		return nil, err
	}
	privacy, err := privacyOf(p, st, access)
	if err != nil {
		return nil, err
	}
	work := useCases(st, access, service)
	movable, _ := service.(*clock.Movable) // production has none
	// Whoever may open the database may do all of it: the token is for this process alone.
	token := rand.Text()
	api := &admin.Admin{
		Token: token, TokenHolder: commandUser(), Guard: web.TokenGuard{Guesses: &limit.Guesses{}, Clock: clock.Real{}}, Store: st, Checkout: work,
		People:  &people.People{Store: st, Clock: clock.Real{}, URL: config.Addresses{}.Dashboard(), Environment: access.Environment},
		Billing: &billing.Billing{Checkout: work}, Banking: &banking.Banking{Checkout: work, Logger: work.Logger},
		Privacy: privacy, Applier: newApplier(st, access), Real: clock.Real{}, Movable: movable,
	}
	front := web.Front{Clock: clock.Real{}, Logger: slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	return &office{p, st, front.Wrap(web.NewMux(api.Routes())), token}, nil
}

// refusal is an answer of the API that is no success.
type refusal struct {
	status int
	detail string
}

func (r *refusal) Error() string { return r.detail }

// ask calls the API, and gives what it answers.
func (o *office) ask(method, path string, query url.Values, body any) (json.RawMessage, error) {
	var answer bytes.Buffer
	err := o.send(method, path, query, body, &answer)
	return answer.Bytes(), err
}

// send calls the API, and hands its answer on as it comes.
func (o *office) send(method, path string, query url.Values, body any, to io.Writer) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	address := url.URL{Path: "/admin/v1/" + strings.TrimPrefix(path, "/"), RawQuery: query.Encode()}
	r, err := http.NewRequestWithContext(o.program.ctx, method, address.String(), bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.RemoteAddr = "127.0.0.1:0"
	r.Header.Set("Authorization", "Bearer "+o.token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	w := &reply{header: http.Header{}, to: to}
	if err := o.serve(w, r); err != nil {
		return err
	}
	if w.status >= http.StatusMultipleChoices {
		return refusalOf(w)
	}
	return w.failed
}

// errBrokenOff tells that an answer ended before its end; why stands in the log.
var errBrokenOff = errors.New("the answer was broken off")

// serve has the handler answer, which may break off an answer that it has begun.
func (o *office) serve(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if cause := recover(); cause == http.ErrAbortHandler {
			err = errBrokenOff
		} else if cause != nil {
			panic(cause)
		}
	}()
	o.handler.ServeHTTP(w, r)
	return nil
}

// reply takes an answer: one that is a success is handed on, another one kept.
type reply struct {
	header  http.Header
	status  int
	to      io.Writer
	refused bytes.Buffer
	failed  error
}

func (w *reply) Header() http.Header { return w.header }

func (w *reply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *reply) Write(text []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.status >= http.StatusMultipleChoices {
		return w.refused.Write(text)
	}
	n, err := w.to.Write(text)
	w.failed = errors.Join(w.failed, err)
	return n, err
}

// refusalOf puts an error's answer into one sentence.
func refusalOf(w *reply) error {
	var body struct {
		Detail json.RawMessage `json:"detail"`
	}
	var sentence string
	var fields map[string]string
	if json.Unmarshal(w.refused.Bytes(), &body) != nil {
		return &refusal{w.status, http.StatusText(w.status)}
	}
	if json.Unmarshal(body.Detail, &sentence) != nil && json.Unmarshal(body.Detail, &fields) == nil {
		parts := make([]string, 0, len(fields))
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			parts = append(parts, fields[name])
		}
		sentence = strings.Join(parts, " ")
	}
	return &refusal{w.status, sentence}
}

// largestPage is how many records the API gives at a time.
const largestPage = 1000

// each reads a list page after page and hands its records on, at most limit of them
// unless that is 0.
func (o *office) each(path string, query url.Values, limit int, do func(json.RawMessage) error) error {
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	for left := limit; ; {
		size := largestPage
		if limit > 0 {
			size = min(left, largestPage)
		}
		query.Set("page_size", strconv.Itoa(size))
		text, err := o.ask(http.MethodGet, path, query, nil)
		if err != nil {
			return err
		}
		var page struct {
			Next    string            `json:"next"`
			Results []json.RawMessage `json:"results"`
		}
		if err := json.Unmarshal(text, &page); err != nil {
			return err
		}
		for _, record := range page.Results {
			if err := do(record); err != nil {
				return err
			}
		}
		left -= len(page.Results)
		if page.Next == "" || limit > 0 && left <= 0 {
			return nil
		}
		next, err := url.Parse(page.Next)
		if err != nil {
			return err
		}
		query.Set("cursor", next.Query().Get("cursor"))
	}
}

// tenantID is that of a tenant who is named by id or name.
func (o *office) tenantID(ctx context.Context, name string) (string, error) {
	tenant, err := setup.FindTenant(ctx, o.store, name)
	return tenant.ID.String(), err
}
