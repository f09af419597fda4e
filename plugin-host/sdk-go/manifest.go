package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
)

// maxLineChars is how long a list may be that stands on one line of a manifest.
const maxLineChars = 100

// UpdateManifest writes what the plugin declares into its plugin.json: name, version, tools with their schemas, hooks and all that it
// offers. What else stands there stays, permissions above all. A file that is not there is made.
func (p *Plugin) UpdateManifest(path string) error {
	fields, err := readManifest(path)
	if errors.Is(err, fs.ErrNotExist) {
		command, _ := json.Marshal(map[string]any{"command": []string{"./" + p.name}})
		fields = &manifest{}
		fields.set("manifestVersion", json.RawMessage("1"))
		fields.set("protocolMajors", json.RawMessage("[1,2]"))
		fields.set("launch", command)
	} else if err != nil {
		return err
	}
	for _, one := range p.declared() {
		if one.value == nil {
			fields.remove(one.key)
			continue
		}
		text, err := marshal(one.value)
		if err != nil {
			return fmt.Errorf("%s: %s cannot be written: %w", path, one.key, err)
		}
		fields.set(one.key, text)
	}
	text, err := fields.text()
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// CheckManifest fails when plugin.json says something else than the plugin declares. For a test.
func (p *Plugin) CheckManifest(path string) error {
	fields, err := readManifest(path)
	if err != nil {
		return err
	}
	for _, one := range p.declared() {
		text := json.RawMessage("null")
		if one.value != nil {
			if text, err = marshal(one.value); err != nil {
				return err
			}
		}
		if !sameJSON(fields.get(one.key), text) {
			return fmt.Errorf("%s: %s is not what the program declares; write it with: go run . manifest %s", path, one.key, path)
		}
	}
	return nil
}

type declaration struct {
	key string
	// value is nil where the plugin has nothing of the kind.
	value any
}

type toolJSON struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema any    `json:"inputSchema"`
	RerunSafe   bool   `json:"rerunSafe,omitempty"`
	TimeoutMs   int64  `json:"timeoutMs,omitempty"`
}

type hookJSON struct {
	At        string   `json:"at"`
	Priority  uint32   `json:"priority,omitempty"`
	TimeoutMs int64    `json:"timeoutMs,omitempty"`
	OnError   string   `json:"onError,omitempty"`
	Tools     []string `json:"tools,omitempty"`
}

// declared is the part of the manifest that the program says. Settings are only said where the plugin has a type for them.
func (p *Plugin) declared() []declaration {
	var tools []toolJSON
	for _, name := range p.toolNames {
		t := p.tools[name]
		tools = append(tools, toolJSON{t.name, t.description, t.input, t.rerunSafe, t.timeLimit.Milliseconds()})
	}
	var hooks []hookJSON
	for _, h := range p.hooks {
		hooks = append(hooks, hookJSON{h.at, h.priority, h.timeLimit.Milliseconds(), h.onError, h.tools})
	}
	var models, embedders, sources, commands []map[string]any
	for _, m := range p.models {
		models = append(models, map[string]any{"name": m.name, "defaultModel": m.defaultModel})
	}
	for _, e := range p.embedders {
		embedders = append(embedders, map[string]any{"id": e.id, "dimensions": e.dimensions})
	}
	for _, s := range p.sources {
		sources = append(sources, map[string]any{"name": s.name, "description": s.description})
	}
	for _, c := range p.commands {
		facts := map[string]any{"name": c.name, "description": c.description}
		if len(c.arguments) > 0 {
			facts["arguments"] = c.arguments
		}
		commands = append(commands, facts)
	}
	all := []declaration{
		{"name", p.name},
		{"version", p.version},
		listed("tools", tools),
		listed("hooks", hooks),
		listed("modelProviders", models),
		listed("embedders", embedders),
		listed("memorySources", sources),
		listed("slashCommands", commands),
	}
	if p.settings != nil {
		all = append(all, declaration{"configSchema", p.settings.schema})
	}
	return all
}

func listed[T any](key string, values []T) declaration {
	if len(values) == 0 {
		return declaration{key: key}
	}
	return declaration{key, values}
}

// manifest is a plugin.json with its keys in the author's order.
type manifest struct {
	keys   []string
	values map[string]json.RawMessage
}

func readManifest(path string) (*manifest, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fields := &manifest{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, fmt.Errorf("%s is no JSON object", path)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("%s: %v: %w", path, key, err)
		}
		name, _ := key.(string)
		fields.set(name, value)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return fields, nil
}

func (m *manifest) get(key string) json.RawMessage {
	if value, ok := m.values[key]; ok {
		return value
	}
	return json.RawMessage("null")
}

func (m *manifest) set(key string, value json.RawMessage) {
	if m.values == nil {
		m.values = map[string]json.RawMessage{}
	}
	if _, known := m.values[key]; !known {
		m.keys = append(m.keys, key)
	}
	m.values[key] = value
}

func (m *manifest) remove(key string) { delete(m.values, key) }

func (m *manifest) text() ([]byte, error) {
	var flat bytes.Buffer
	flat.WriteByte('{')
	for _, key := range m.keys {
		value, ok := m.values[key]
		if !ok {
			continue
		}
		if flat.Len() > 1 {
			flat.WriteByte(',')
		}
		name, err := marshal(key)
		if err != nil {
			return nil, err
		}
		flat.Write(name)
		flat.WriteByte(':')
		flat.Write(value)
	}
	flat.WriteByte('}')
	var text bytes.Buffer
	if err := json.Indent(&text, flat.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	text.WriteByte('\n')
	return plainList.ReplaceAllFunc(text.Bytes(), onOneLine), nil
}

// plainList is a list of texts and numbers, a line each. No text of JSON has a line break in it.
var plainList = regexp.MustCompile(`\[\n\s+[^\[\]{}\n]+(?:\n\s+[^\[\]{}\n]+)*\n\s*\]`)

var lineBreak = regexp.MustCompile(`\n\s*`)

func onOneLine(list []byte) []byte {
	inside := list[1 : len(list)-1]
	short := append([]byte("["), lineBreak.ReplaceAll(bytes.TrimSpace(inside), []byte(" "))...)
	if len(short) > maxLineChars {
		return list
	}
	return append(short, ']')
}

// sameJSON compares what two texts mean. Left out, null and an empty list are the same.
func sameJSON(one, other json.RawMessage) bool {
	var a, b any
	if json.Unmarshal(one, &a) != nil || json.Unmarshal(other, &b) != nil {
		return false
	}
	if list, ok := a.([]any); ok && len(list) == 0 {
		a = nil
	}
	return reflect.DeepEqual(a, b)
}
