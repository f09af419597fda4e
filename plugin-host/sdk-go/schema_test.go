package plugin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type page struct {
	Limit int `json:"limit" default:"10" minimum:"1" maximum:"50" description:"Most of them"`
}

type query struct {
	page
	Words  string            `json:"words" description:"What to <find>" minLength:"1" pattern:"^\\S"`
	Order  string            `json:"order,omitempty" enum:"asc,desc"`
	Levels []uint            `json:"levels,omitempty" minItems:"1"`
	Since  *time.Time        `json:"since"`
	Labels map[string]string `json:"labels,omitempty"`
	Raw    []byte            `json:"raw,omitempty"`
	Any    any               `json:"any,omitempty"`
	Skip   string            `json:"-"`
	hidden string
}

func TestASchemaSaysWhatTypeAndTagsSay(t *testing.T) {
	expect(t, Schema[query](), `{"type":"object","properties":{`+
		`"limit":{"type":"integer","description":"Most of them","default":10,"minimum":1,"maximum":50},`+
		`"words":{"type":"string","description":"What to \u003cfind\u003e","minLength":1,"pattern":"^\\S"},`+
		`"order":{"type":"string","enum":["asc","desc"]},`+
		`"levels":{"type":"array","items":{"type":"integer","minimum":0},"minItems":1},`+
		`"since":{"type":"string","format":"date-time"},`+
		`"labels":{"type":"object","additionalProperties":{"type":"string"}},`+
		`"raw":{"type":"string","contentEncoding":"base64"},"any":{}},`+
		`"required":["words"],"additionalProperties":false}`)
	expect(t, Schema[map[string]any](), `{"type":"object"}`)
	expect(t, Schema[struct{}](), `{"type":"object","properties":{},"additionalProperties":false}`)
}

type ring struct {
	Next *ring `json:"next"`
}

func TestWhatNoSchemaCanSayPanicsAtOnce(t *testing.T) {
	for want, declare := range map[string]func(){
		"struct or a map":    func() { Schema[string]() },
		"holds itself":       func() { Schema[ring]() },
		"time.Duration":      func() { Schema[struct{ Wait time.Duration }]() },
		"cannot hold a chan": func() { Schema[struct{ C chan int }]() },
		"keys":               func() { Schema[struct{ M map[int]string }]() },
		"tag minimum fits": func() {
			Schema[struct {
				S string `minimum:"1"`
			}]()
		},
		"invalid syntax": func() {
			Schema[struct {
				N int `default:"many"`
			}]()
		},
		"two tools": func() {
			p := New("x", "1.0.0")
			for range 2 {
				Tool(p, "t", "", func(context.Context, *Call, struct{}) (string, error) { return "", nil })
			}
		},
		"no name for a tool": func() {
			Tool(New("x", "1.0.0"), "a-b", "", func(context.Context, *Call, struct{}) (string, error) { return "", nil })
		},
	} {
		func() {
			defer func() {
				text, _ := recover().(string)
				if !strings.Contains(text, want) {
					t.Errorf("got %q, want %q in it", text, want)
				}
			}()
			declare()
		}()
	}
}

func TestAManifestIsMadeKeptAndChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plugin.json")
	p := New("pages", "1.0.0")
	Tool(p, "find", "Finds.", func(context.Context, *Call, page) (string, error) { return "", nil }).RerunSafe().TimeLimit(2 * time.Minute)
	p.Hook("tool.before", nil).Priority(7).TimeLimit(time.Second).OnError("deny").Tools("shell")
	if err := p.UpdateManifest(path); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckManifest(path); err != nil {
		t.Fatal(err)
	}
	made, _ := os.ReadFile(path)
	for _, want := range []string{`"rerunSafe": true`, `"timeoutMs": 120000`, `"command": ["./pages"]`, `"protocolMajors": [1, 2]`, `"onError": "deny"`, `"priority": 7`} {
		if !strings.Contains(string(made), want) {
			t.Errorf("the manifest has no %s:\n%s", want, made)
		}
	}
	// What is the author's stays; what the program no longer has goes.
	theirs := strings.Replace(string(made), `"manifestVersion"`, `"permissions":[{"permission":"read=/src","reason":"a < b"}],"embedders":[{"id":"old"}],"manifestVersion"`, 1)
	if err := os.WriteFile(path, []byte(theirs), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckManifest(path); err == nil || !strings.Contains(err.Error(), "embedders is not what the program declares") {
		t.Error("the old embedder was passed over:", err)
	}
	if err := p.UpdateManifest(path); err != nil {
		t.Fatal(err)
	}
	mended, _ := os.ReadFile(path)
	if !strings.Contains(string(mended), `"reason": "a < b"`) || strings.Contains(string(mended), "embedders") {
		t.Errorf("the manifest is\n%s", mended)
	}
	if err := os.WriteFile(path, []byte(`{"name": "x"`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := p.UpdateManifest(path); err == nil {
		t.Error("half a manifest was taken")
	}
}
