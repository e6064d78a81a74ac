package api_test

import (
	"net/http"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestASessionExpiresTheMomentItIsDue(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		short, day := apptest.InCampaign(apptest.ShortCampaign), apptest.Direct()
		hourly, daily := s.Create(t, short), s.Create(t, day)
		s.MoveClock(t, time.Hour-time.Minute)
		s.WantStatus(t, hourly, "PENDING")
		s.MoveClock(t, time.Minute)

		t.Run("every reader sees it, swept or not", func(t *testing.T) {
			s.WantStatus(t, hourly, "EXPIRED")
			for _, answer := range []apptest.Answer{s.Pay(t, hourly, apptest.Approved), s.Cancel(t, hourly), s.Verify(t, hourly)} {
				answer.WantDetail(t, http.StatusGone, gone)
			}
			s.WantLedger(t, hourly, 0, 0)
		})
		t.Run("its token is no credential any more", func(t *testing.T) {
			s.Do(t, apptest.Request{Path: ibanPath, Key: hourly, Body: body{"iban": apptest.Approved}}).
				WantDetail(t, http.StatusUnauthorized, "Invalid or expired session token")
		})
		t.Run("the lead can have another", func(t *testing.T) {
			s.Create(t, short)
			s.WantStatus(t, hourly, "EXPIRED")
		})
		t.Run("a session lives 24 hours where its campaign says nothing", func(t *testing.T) {
			s.MoveClock(t, 22*time.Hour)
			s.WantStatus(t, daily, "PENDING")
			s.TryCreate(t, day).WantDetail(t, http.StatusConflict, leadBusy)
			s.MoveClock(t, time.Hour)
			s.WantStatus(t, daily, "EXPIRED")
			s.Create(t, day)
		})
		t.Run("nobody is told", func(t *testing.T) { s.WantEvents(t, hourly) })
	})
}

func TestExpiryWhileAVerificationIsOutstanding(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		undecided, approved := apptest.InCampaign(apptest.ShortCampaign), apptest.InCampaign(apptest.ShortCampaign)
		lost, result := s.Awaiting(t, undecided, apptest.VerificationPage)
		collected, paid := s.Awaiting(t, approved, apptest.VerificationPage)
		s.Decide(t, paid.Text(t, "verification_url"), "approve")
		s.Advance(t, 2*time.Hour)

		t.Run("where the gateway has collected, the session is COMPLETED and that is told", func(t *testing.T) {
			s.WantStatus(t, collected, "COMPLETED")
			s.WantEvents(t, collected, apptest.Completed...)[0].Payload.Want(t, 0, fields{"status": "approved", "id": paid.Text(t, "transaction.id")})
			s.WantLedger(t, collected, 1, 1)
		})
		t.Run("where it has not, the session is EXPIRED, the transaction declined, the order FAILED, and nothing is told", func(t *testing.T) {
			s.WantStatus(t, lost, "EXPIRED")
			s.WantEvents(t, lost)
			wantRow(t, s, "transactions", result.Text(t, "transaction.id"), "declined")
			wantRow(t, s, "orders", result.Text(t, "order.id"), "FAILED")
			for _, answer := range []apptest.Answer{s.Verify(t, lost), s.Pay(t, lost, apptest.Approved), s.Cancel(t, lost)} {
				answer.WantDetail(t, http.StatusGone, gone)
			}
		})
		t.Run("the gateway does not collect afterwards", func(t *testing.T) {
			s.Decide(t, result.Text(t, "verification_url"), "approve").Want(t, http.StatusConflict, nil)
			s.WantLedger(t, lost, 1, 0)
		})
		t.Run("the lead can have another", func(t *testing.T) { s.Completed(t, undecided) })
	})
}

// wantRow expects the status of a row that no answer of the API shows.
func wantRow(t *testing.T, s *apptest.Server, table, id, status string) {
	t.Helper()
	if got := storetest.Scalar[string](t, s.Env, `SELECT status FROM `+table+` WHERE CAST(id AS TEXT) = $1`, id); got != status {
		t.Errorf("in %s the status is %s, want %s", table, got, status)
	}
}

// TestARestoreEndsWhatIsBeingPaid restores a backup that was made while attempts were open. They may have been refused
// since, and others paid of which nobody knows any more.
func TestARestoreEndsWhatIsBeingPaid(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		buyers := []body{apptest.Direct(), apptest.Direct(), apptest.Direct()}
		rejected, _ := s.Awaiting(t, buyers[0], apptest.VerificationRejected)
		confirmed, paid := s.Awaiting(t, buyers[1], apptest.VerificationPage)
		s.Decide(t, paid.Text(t, "verification_url"), "approve")
		lost := s.Create(t, buyers[2])
		s.Pay(t, lost, apptest.TimeoutLost).Want(t, http.StatusInternalServerError, nil)
		now := s.Now(t)
		if err := s.Env.Store.Write(t.Context(), now, func(tx *store.Tx) error { tx.MarkRestored(now); return nil }); err != nil {
			t.Fatal(err)
		}
		s.Verify(t, rejected)
		s.LookUp(t)
		s.Advance(t, time.Minute)

		t.Run("what was refused is not paid again", func(t *testing.T) {
			for i, token := range map[int]string{0: rejected, 2: lost} {
				s.Pay(t, token, apptest.Approved).WantDetail(t, http.StatusGone, gone)
				s.WantStatus(t, token, "EXPIRED")
				s.Completed(t, buyers[i])
			}
		})
		t.Run("what the gateway has collected is known", func(t *testing.T) { s.WantStatus(t, confirmed, "COMPLETED") })
	})
}

func TestPendingPaymentsSettleOnTheClock(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		monthly := apptest.InCampaign(apptest.MonthlyCampaign)
		first := s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign))
		refused := s.Pay(t, first, apptest.PendingDeclined).Want(t, http.StatusOK, fields{"status": "completed", "subscription.status": "ACTIVE"})
		s.Advance(t, time.Hour)
		second := s.Create(t, monthly)
		settled := s.Pay(t, second, apptest.PendingApproved).Want(t, http.StatusOK, fields{"status": "completed", "transaction.status": "pending"})
		unpaid := s.Create(t, apptest.InCampaign(apptest.ShortCampaign))
		s.Advance(t, 22*time.Hour)
		s.WantEvents(t, first, apptest.Completed...)
		now := s.Advance(t, 20*24*time.Hour)

		t.Run("one that is refused after all: order FAILED, subscription CANCELLED, and that is told", func(t *testing.T) {
			events := s.WantEvents(t, first, append(apptest.Completed, "transaction.status_changed")...)
			events[2].Payload.Want(t, 0, fields{"previous_status": "pending", "status": "declined", "id": refused.Text(t, "transaction.id")})
			wantRow(t, s, "orders", refused.Text(t, "order.id"), "FAILED")
			wantRow(t, s, "subscriptions", refused.Text(t, "subscription.id"), "CANCELLED")
			s.WantStatus(t, first, "COMPLETED")
		})
		t.Run("one that is collected: order COMPLETED, and that is told", func(t *testing.T) {
			events := s.WantEvents(t, second, append(apptest.Completed, "transaction.status_changed")...)
			events[2].Payload.Want(t, 0, fields{"previous_status": "pending", "status": "approved", "date_processed": settled.Text(t, "processed_at")})
			wantRow(t, s, "orders", settled.Text(t, "order.id"), "COMPLETED")
			wantRow(t, s, "subscriptions", settled.Text(t, "subscription.id"), "ACTIVE")
		})
		t.Run("each happened at its own time, in order", func(t *testing.T) {
			for _, result := range []apptest.Answer{refused, settled} {
				created, err := time.Parse(time.RFC3339, result.Text(t, "created_at"))
				if err != nil {
					t.Fatal(err)
				}
				wantMoment(t, s, `SELECT updated_at FROM transactions WHERE CAST(id AS TEXT) = $1`, result.Text(t, "transaction.id"), created.Add(24*time.Hour))
			}
			ended := storetest.Scalar[int64](t, s.Env, `SELECT expires_at FROM sessions WHERE token = $1`, store.TokenKey(unpaid))
			wantMoment(t, s, `SELECT updated_at FROM sessions WHERE token = $1`, store.TokenKey(unpaid), time.UnixMicro(ended))
			if now.Before(time.Now().Add(20 * 24 * time.Hour)) {
				t.Errorf("the clock shows %v", now)
			}
		})
	})
}

// wantMoment expects something to have happened at an instant or just after.
func wantMoment(t *testing.T, s *apptest.Server, query, argument string, due time.Time) {
	t.Helper()
	at := time.UnixMicro(storetest.Scalar[int64](t, s.Env, query, argument))
	if late := at.Sub(due); late < 0 || late > time.Minute {
		t.Errorf("what was due at %v happened %v later", due, late)
	}
}
