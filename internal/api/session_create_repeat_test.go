package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
)

// named is a create under an idempotency key.
func named(s *apptest.Server, key string, request body) apptest.Request {
	text, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return apptest.Request{Path: apptest.Sessions, Key: s.Key, Body: string(text), Header: map[string]string{"Idempotency-Key": key}}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		request := apptest.Direct()
		first := s.Do(t, named(s, "order-1", request)).Want(t, http.StatusCreated, nil)
		sessions := s.Env.Count(t, "sessions")

		t.Run("a repeat with the same bytes gets the stored 201", func(t *testing.T) {
			s.Do(t, named(s, "order-1", request)).Want(t, http.StatusCreated, fields(first.Object(t)))
			if now := s.Env.Count(t, "sessions"); now != sessions {
				t.Errorf("%d sessions became %d", sessions, now)
			}
		})
		t.Run("with other bytes it is a 409", func(t *testing.T) {
			other := named(s, "order-1", request)
			other.Body = other.Body.(string) + " "
			s.Do(t, other).Want(t, http.StatusConflict, nil)
			s.Do(t, named(s, "order-1", apptest.Direct())).Want(t, http.StatusConflict, nil)
		})
		t.Run("another tenant's key of the same name is another key", func(t *testing.T) {
			rival := named(s, "order-1", body{"campaign_id": apptest.RivalCampaign, "lead": request["lead"]})
			rival.Key = s.RivalKey
			s.Do(t, rival).Want(t, http.StatusCreated, nil)
		})
		t.Run("the 201 stays after the session has ended", func(t *testing.T) {
			s.Cancel(t, first.Text(t, "session_token")).Want(t, http.StatusOK, nil)
			s.Do(t, named(s, "order-1", request)).Want(t, http.StatusCreated, fields(first.Object(t)))
		})
		t.Run("a body that is bad is a 400 also under a used key, or a 409", func(t *testing.T) {
			if status := s.Do(t, named(s, "order-1", body{})).Status; status != http.StatusConflict && status != http.StatusBadRequest {
				t.Errorf("the status is %d", status)
			}
		})
	})
}

func TestIdempotencyKeyRemembersSuccessOnly(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("after a 400 the same key and another body succeed", func(t *testing.T) {
			s.Do(t, named(s, "mended", apptest.Direct().Without("amount"))).WantBad(t, map[string]string{"amount": ""})
			s.Do(t, named(s, "mended", apptest.Direct())).Want(t, http.StatusCreated, nil)
		})
		t.Run("after a 409 the same key and body succeed", func(t *testing.T) {
			request := apptest.Direct()
			blocking := s.Create(t, request)
			s.Do(t, named(s, "later", request)).WantDetail(t, http.StatusConflict, leadBusy)
			s.Cancel(t, blocking).Want(t, http.StatusOK, nil)
			s.Do(t, named(s, "later", request)).Want(t, http.StatusCreated, nil)
		})
		t.Run("after a 401 the same key and body succeed", func(t *testing.T) {
			request := named(s, "authorized", apptest.Direct())
			denied := request
			denied.Key = "rk_test_wrong"
			s.Do(t, denied).Want(t, http.StatusUnauthorized, nil)
			s.Do(t, request).Want(t, http.StatusCreated, nil)
		})
		t.Run("255 characters are taken, more are a 400", func(t *testing.T) {
			s.Do(t, named(s, strings.Repeat("ü", 255), apptest.Direct())).Want(t, http.StatusCreated, nil)
			s.Do(t, named(s, strings.Repeat("k", 256), apptest.Direct())).WantBad(t, map[string]string{
				"Idempotency-Key": "Idempotency-Key may have at most 255 characters.",
			})
		})
		t.Run("it is named with whatever else is bad", func(t *testing.T) {
			s.Do(t, named(s, strings.Repeat("k", 256), apptest.Direct().Without("amount"))).WantBad(t, map[string]string{"Idempotency-Key": "", "amount": ""})
		})
	})
}

func TestIdempotencyKeyLives24Hours(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		request := apptest.Direct()
		first := s.Do(t, named(s, "daily", request)).Text(t, "session_token")
		s.Cancel(t, first)
		s.Advance(t, 24*time.Hour-time.Minute)
		s.Do(t, named(s, "daily", request)).Want(t, http.StatusCreated, fields{"session_token": first})
		s.Advance(t, time.Minute)
		if second := s.Do(t, named(s, "daily", request)).Want(t, http.StatusCreated, nil).Text(t, "session_token"); second == first {
			t.Error("after 24 hours the old session is answered")
		}
	})
}

func TestIdempotencyKeyUnderConcurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("twins at once make one session, and each is told of it or gets a 409", func(t *testing.T) {
			for range 3 {
				before := s.Env.Count(t, "sessions")
				request := named(s, "twins-"+apptest.Email(), apptest.Direct())
				answers := s.AtOnce(t, request.Times(8)...)
				tokens := map[string]bool{}
				for _, answer := range answers[http.StatusCreated] {
					tokens[answer.Text(t, "session_token")] = true
				}
				if made := s.Env.Count(t, "sessions") - before; made != 1 || len(tokens) != 1 {
					t.Errorf("%d sessions were made, %d are known", made, len(tokens))
				}
				if len(answers[http.StatusCreated])+len(answers[http.StatusConflict]) != 8 {
					t.Errorf("the answers are %v", answers)
				}
				for _, answer := range answers[http.StatusConflict] {
					if answer.Text(t, "detail") == leadBusy {
						t.Error("a twin is told that the lead is busy, as if with another purchase")
					}
				}
			}
		})
		t.Run("one key with different bodies at once makes one session", func(t *testing.T) {
			requests := make([]apptest.Request, 6)
			for i := range requests {
				requests[i] = named(s, "fought-over", apptest.Direct())
			}
			answers := s.AtOnce(t, requests...)
			if len(answers[http.StatusCreated]) != 1 || len(answers[http.StatusConflict]) != 5 {
				t.Errorf("the answers are %v", answers)
			}
		})
	})
}
