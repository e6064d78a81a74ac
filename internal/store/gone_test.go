package store_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// TestADatabaseThatIsGoneIsNotOneWithNothingInIt asks everything that the store can be asked, after the database has
// gone: whoever takes an error for "there is none" bills twice, forgets a person or says that all is well.
func TestADatabaseThatIsGoneIsNotOneWithNothingInIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		gone := env.Reopen(t)
		if err := gone.Close(); err != nil {
			t.Fatal(err)
		}
		shop := env.Shop(t)
		for _, asked := range []any{gone, gone.Tenant(shop.ID)} {
			questions := reflect.ValueOf(asked)
			for i := range questions.NumMethod() {
				name := questions.Type().Method(i).Name
				if isQuestion(questions.Method(i).Type()) && !slices.Contains(asksNobody, name) {
					if err := ask(t, questions.Method(i)); err == nil {
						t.Errorf("%T.%s finds nothing, and no error", asked, name)
					}
				}
			}
		}
		at := storetest.Place{
			TenantID: shop.ID, GatewayID: shop.Gateway.ID, ProfileID: shop.Profile.ID, From: env.Now, Before: env.Now,
			SessionID: payment.NewID(), SubscriptionID: payment.NewID(), TransactionID: payment.NewID(),
		}
		for _, walk := range storetest.Walks() {
			if err := walk.Run(t.Context(), gone, at); err == nil {
				t.Errorf("%s: nothing, and no error", walk.Name)
			}
		}
	})
}

// asksNobody are those that look at the process, at a file or at an empty key instead, on one of the engines at least.
var asksNobody = []string{"Admit", "CheckClock", "CheckFile", "CheckReplica", "EndLeases", "HasRoom", "LockForMoving", "OpenElsewhere", "Remembered", "Rewrite"}

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// isQuestion tells a method that takes a context and may fail, and not somebody's work to do.
func isQuestion(method reflect.Type) bool {
	for i := range method.NumIn() {
		if method.In(i).Kind() == reflect.Func {
			return false
		}
	}
	return method.NumIn() > 0 && method.In(0) == contextType && method.NumOut() > 0 && method.Out(method.NumOut()-1) == errorType
}

// ask calls a method with a context and what says nothing.
func ask(t *testing.T, method reflect.Value) (err error) {
	t.Helper()
	args := []reflect.Value{reflect.ValueOf(t.Context())}
	for i := 1; i < method.Type().NumIn(); i++ {
		if method.Type().IsVariadic() && i == method.Type().NumIn()-1 {
			break
		}
		args = append(args, something(method.Type().In(i)))
	}
	results := method.Call(args)
	err, _ = results[len(results)-1].Interface().(error)
	return err
}

// something is a value about which something can be asked: one of a list, a name, a number, and no nil pointer.
func something(of reflect.Type) reflect.Value {
	made := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Pointer:
		made.Set(reflect.New(of.Elem()))
	case reflect.Slice:
		made.Set(reflect.MakeSlice(of, 1, 1))
	case reflect.String:
		made.SetString("x")
	case reflect.Int, reflect.Int64:
		made.SetInt(1)
	}
	return made
}
