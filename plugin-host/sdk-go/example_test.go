package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clawd.dev/plugin"
)

type Forecast struct {
	City string `json:"city" description:"Where" minLength:"1"`
	Days int    `json:"days" description:"How far ahead" default:"1" minimum:"1" maximum:"10"`
	Unit string `json:"unit,omitempty" enum:"celsius,fahrenheit"`
}

// A plugin with a tool. plugin.Main is the last call of main.
func Example() {
	p := plugin.New("weather", "1.0.0")
	plugin.Tool(p, "forecast", "Tells the weather of a city.",
		func(ctx context.Context, call *plugin.Call, in Forecast) (string, error) {
			call.Progress("asking for " + in.City)
			if in.City == "Atlantis" {
				return "", plugin.Errorf(plugin.NotFound, "there is no city %s", in.City).WithHint("ask for one on land")
			}
			return fmt.Sprintf("%s: sun for %d days", in.City, in.Days), nil
		}).RerunSafe()
	// plugin.Main(p)
}

// The schema that a model sees comes from the tags of a struct.
func ExampleSchema() {
	fmt.Println(strings.ReplaceAll(string(plugin.Schema[Forecast]()), `},"`, "},\n\""))
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"Where","minLength":1},
	// "days":{"type":"integer","description":"How far ahead","default":1,"minimum":1,"maximum":10},
	// "unit":{"type":"string","enum":["celsius","fahrenheit"]}},
	// "required":["city"],"additionalProperties":false}
}

// A hook that guards a tool: it answers before the tool runs.
func ExamplePlugin_Hook() {
	p := plugin.New("careful", "1.0.0")
	p.Hook("tool.before", func(ctx context.Context, event *plugin.Event) (plugin.Verdict, error) {
		var call struct{ Args struct{ Command string } }
		if err := event.Decode(&call); err != nil {
			return plugin.Verdict{}, err
		}
		if strings.Contains(call.Args.Command, "sudo") {
			return plugin.Block("no sudo"), nil
		}
		return plugin.Pass(), nil
	}).Tools("shell").OnError("deny")
}

// Settings come as a struct; an error refuses them in its own words.
func ExampleSettings() {
	type settings struct {
		Endpoint string `json:"endpoint" default:"https://api.example.com"`
	}
	p := plugin.New("weather", "1.0.0")
	plugin.Settings(p, func(ctx context.Context, s settings) error {
		if !strings.HasPrefix(s.Endpoint, "https://") {
			return errors.New("the endpoint must begin with https://")
		}
		return nil
	})
}

// A result may have several parts, and output may be sent while a tool runs.
func ExampleParts() {
	p := plugin.New("report", "1.0.0")
	plugin.Tool(p, "chart", "Draws a chart.", func(ctx context.Context, call *plugin.Call, in struct{}) (plugin.Parts, error) {
		fmt.Fprintln(call.Output, "drawing")
		id, err := call.WriteArtifact(ctx, "image/svg+xml", []byte("<svg/>"))
		if err != nil {
			return nil, err
		}
		return plugin.Parts{plugin.Text("the chart:"), plugin.Artifact(id)}, nil
	})
}
