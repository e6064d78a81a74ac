package sepad_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sepad/internal/backup"
	"sepad/internal/checkout"
	"sepad/internal/config"
	"sepad/internal/db"
	"sepad/internal/gateway"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/recon"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/timeline"
	"sepad/internal/web"
)

// privateValues are all types that hold what is personal or secret; which fields
// a type shows stands beside it.
var privateValues = []struct {
	value any
	shown []string
}{
	{payment.Lead{}, nil},
	{payment.Instrument{}, nil},
	{payment.Session{}, []string{"Status"}},
	{payment.Transaction{}, []string{"Status", "Type", "Currency"}},
	{payment.Chargeback{}, []string{"ReasonCode"}},
	{payment.Acceptance{}, nil},
	{merchant.Secret(""), nil},
	{merchant.Settings{}, nil},
	{gateway.Charge{}, []string{"MerchantTransactionID"}},
	{gateway.Account{}, nil},
	{gateway.Notification{}, nil},
	{gateway.Values{}, nil},
	{gateway.HTTPOptions{}, nil},
	{gateway.Request{}, nil},
	{gateway.Answer{}, nil},
	{checkout.CreateRequest{}, nil},
	{checkout.Created{}, nil},
	{checkout.Payment{}, nil},
	{config.Config{}, nil},
	{config.Access{}, nil},
	{config.OIDC{}, nil},
	{people.Vouched{}, nil},
	{backup.Source{}, nil},
	{backup.Target{}, nil},
	{backup.Move{}, nil},
	{store.Person{}, nil},
	{store.Memory{}, nil},
	{store.NamedLead{}, nil},
	{store.Operator{}, nil},
	{store.OperatorSession{}, nil},
	{store.Actor{}, nil},
	{people.Principal{}, nil},
	{people.Welcome{}, nil},
	{config.Database{}, nil},
	{config.Settings{}, nil},
	{limit.Settings{}, nil},
	{db.Options{}, nil},
	{store.Options{}, nil},
	{store.EventRow{}, nil},
	{store.FeedEvent{}, nil},
	{store.Delivery{}, nil},
	{store.Collectible{}, nil},
	{listing.SessionSearch{}, nil},
	{listing.SessionFilter{}, nil},
	{recon.Filters{}, nil},
	{listing.TransactionSearch{}, nil},
	{listing.SubscriptionSearch{}, nil},
	{listing.LeadSearch{}, nil},
	{listing.MandateRecord{}, nil},
	{listing.EventTold{}, nil},
	{listing.History{}, nil},
	{timeline.Entry{}, nil},
	{listing.AuditSearch{}, nil},
	{web.Credential{}, nil},
	{sepa.IBAN{}, nil},
	{sepa.Masked{}, nil},
}

// TestPrivateTypes prints every private type, filled to the brim, in every way
// that there is, and finds nothing of it.
func TestPrivateTypes(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, private := range privateValues {
		name := reflect.TypeOf(private.value).String()
		listed[name] = true
		t.Run(name+" masks itself however it is printed", func(t *testing.T) {
			t.Parallel()
			filled := reflect.New(reflect.TypeOf(private.value)).Elem()
			fill(filled, "")
			for way, text := range prints(filled) {
				for _, field := range private.shown {
					for _, form := range []string{"%s", "%x", "%X"} {
						text = strings.ReplaceAll(text, fmt.Sprintf(form, marker+field), "")
					}
				}
				if strings.Contains(text, marker) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", marker)) || strings.Contains(text, account[4:]) {
					t.Errorf("%s shows %s", way, text)
				}
			}
		})
	}
	t.Run("every private type is listed", func(t *testing.T) {
		t.Parallel()
		for name := range privateTypes(declaredTypes(projectSources(t, projectFiles(t)))) {
			if _, local, _ := strings.Cut(name, "."); ast.IsExported(local) && !listed[name] {
				t.Errorf("%s is not printed by this test", name)
			}
		}
	})
}

const (
	marker  = "untold"
	account = "DE89370400440532013000"
)

// fill writes a marker with the field's name into every text within a value.
func fill(v reflect.Value, name string) {
	if v.Type() == reflect.TypeFor[sepa.IBAN]() {
		iban, _ := sepa.ParseIBAN(account)
		v.Set(reflect.ValueOf(iban))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(marker + name)
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.String || v.Type().Elem().Kind() == reflect.Struct && v.Type().Elem().PkgPath() == "sepad/internal/payment" {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), v.Type().Field(i).Name)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(marker + name))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			element := reflect.New(v.Type().Elem()).Elem()
			fill(element, name)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), element)
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(marker + name))
		}
	}
}

// shapes are the places in which a value may stand when it is printed.
func shapes(v reflect.Value) map[string]any {
	pointer := reflect.New(v.Type())
	pointer.Elem().Set(v)
	holder := func(of reflect.Type, held reflect.Value) any {
		structure := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "Held", Type: of}})).Elem()
		structure.Field(0).Set(held)
		return structure.Interface()
	}
	slice := reflect.Append(reflect.MakeSlice(reflect.SliceOf(v.Type()), 0, 1), v)
	byName := reflect.MakeMap(reflect.MapOf(reflect.TypeFor[string](), v.Type()))
	byName.SetMapIndex(reflect.ValueOf("held"), v)
	return map[string]any{
		"value": v.Interface(), "pointer": pointer.Interface(), "slice": slice.Interface(), "map": byName.Interface(),
		"field": holder(v.Type(), v), "pointer in a field": holder(pointer.Type(), pointer), "slice in a field": holder(slice.Type(), slice),
		"any in a slice": []any{v.Interface(), pointer.Interface()}, "any in a map": map[string]any{"held": v.Interface()},
		"error": fmt.Errorf("failed with %v", v.Interface()),
	}
}

// prints gives every shape in every way, by what was done.
func prints(v reflect.Value) map[string]string {
	texts := map[string]string{}
	all := shapes(v)
	for _, shape := range slices.Sorted(maps.Keys(all)) {
		value := all[shape]
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%5.2f"} {
			texts[shape+" with "+verb] = fmt.Sprintf(verb, value)
		}
		encoded, err := json.Marshal(value)
		texts[shape+" as JSON"] = fmt.Sprint(string(encoded), err)
		for form, handler := range map[string]func(*bytes.Buffer) slog.Handler{
			"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
			"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		} {
			var log bytes.Buffer
			slog.New(handler(&log)).With("kept", value).Info("printed", "held", value, slog.Group("group", "held", value))
			texts[shape+" in a log of "+form] = log.String()
		}
	}
	return texts
}
