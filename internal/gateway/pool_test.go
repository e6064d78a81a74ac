package gateway_test

import (
	"reflect"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
)

func TestPool(t *testing.T) {
	t.Parallel()
	setup := func() (*gateway.Pool, gateway.Account) {
		kinds := map[string]gateway.Kind{"scripted": kindOf(&scripted{})}
		return gateway.NewPool(kinds, gateway.Options{}), gateway.Account{
			ID: uuid.New(), Settings: map[string]any{"api_key": "one"},
		}
	}
	clientOf := func(t *testing.T, pool *gateway.Pool, account gateway.Account) *gateway.Client {
		t.Helper()
		client, err := pool.Client("scripted", account)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	t.Run("an account keeps its client", func(t *testing.T) {
		t.Parallel()
		pool, account := setup()
		same := account
		same.Settings = map[string]any{"api_key": "one"}
		if clientOf(t, pool, account) != clientOf(t, pool, same) {
			t.Error("a second client was made")
		}
	})
	t.Run("a changed account and another account get a new one", func(t *testing.T) {
		t.Parallel()
		pool, account := setup()
		first := clientOf(t, pool, account)
		other := account
		other.ID = uuid.New()
		account.Settings = map[string]any{"api_key": "two"}
		if clientOf(t, pool, account) == first || clientOf(t, pool, other) == first {
			t.Error("the client of other settings or of another account was given")
		}
	})
	t.Run("whatever changes in an account, it gets a new one", func(t *testing.T) {
		t.Parallel()
		pool, account := setup()
		for i := range reflect.TypeFor[gateway.Account]().NumField() {
			first := clientOf(t, pool, account)
			switch field := reflect.ValueOf(&account).Elem().Field(i); value := field.Addr().Interface().(type) {
			case *uuid.UUID:
				*value = uuid.New()
			case *string:
				*value += " & Co."
			case *bool:
				*value = !*value
			case *merchant.Settings:
				*value = merchant.Settings{"api_key": "two"}
			default:
				t.Fatalf("this test cannot change %T", value)
			}
			if clientOf(t, pool, account) == first {
				t.Errorf("another %s makes no other client", reflect.TypeFor[gateway.Account]().Field(i).Name)
			}
		}
	})
	t.Run("an adapter that does not exist is named", func(t *testing.T) {
		t.Parallel()
		pool, account := setup()
		if _, err := pool.Client("carrier-pigeon", account); err == nil {
			t.Error("it was found")
		}
	})
}
