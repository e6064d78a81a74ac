package adapters_test

import (
	"testing"

	"sepad/internal/gateway/adapters"
	"sepad/internal/gateway/sandbox"
)

func TestAll(t *testing.T) {
	t.Parallel()
	kinds := adapters.All(sandbox.NewMemoryLedger(), sandbox.Options{PublicURL: "http://127.0.0.1:8080"})
	if _, listed := kinds["sandbox"]; !listed {
		t.Error("the sandbox is not listed")
	}
	for name, kind := range kinds {
		t.Run(name+" is listed under its own name", func(t *testing.T) {
			t.Parallel()
			if len(kind.Currencies) == 0 {
				t.Error("names no currency that it collects")
			}
			for _, setting := range kind.Settings {
				if setting.Name == "" || setting.Type == "" || setting.Help == "" {
					t.Errorf("the setting %q lacks its type or help", setting.Name)
				}
			}
			if kind.Name != name || kind.DisplayName == "" || kind.New == nil {
				t.Errorf("listed as %q, calls itself %q, shown as %q", name, kind.Name, kind.DisplayName)
			}
		})
	}
}
