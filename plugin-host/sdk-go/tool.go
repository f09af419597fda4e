package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
)

var toolName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)

// Call is one call of a tool.
type Call struct {
	Conversation
	// Output takes what the tool has to say while it runs; the result's text follows all of it. Writing waits while the host
	// is slower, and fails when nobody waits any more. Safe for use by several goroutines.
	Output io.Writer
}

// ToolDeclaration is a tool as it is declared.
type ToolDeclaration struct {
	name, description string
	input             any
	rerunSafe         bool
	timeLimit         time.Duration
	run               func(ctx context.Context, call *Call, args *structpb.Struct) (Parts, error)
}

// Tool declares a tool of a [Plugin], or one of an [Offer]. Its arguments come as an In: a struct, whose tags make the JSON schema that the model sees
// (see [Schema]), or a map. Its result is a text, [Parts], or any value that JSON can hold, which the model reads as JSON.
func Tool[In, Out any](
	to Tools,
	name, description string,
	run func(ctx context.Context, call *Call, in In) (Out, error),
) *ToolDeclaration {
	declared := &ToolDeclaration{name: name, description: description, input: objectSchema(reflect.TypeFor[In]())}
	declared.run = func(ctx context.Context, call *Call, args *structpb.Struct) (Parts, error) {
		var in In
		if err := decode(args, &in); err != nil {
			return nil, Errorf(Invalid, "the arguments do not fit: %w", err)
		}
		out, err := run(ctx, call, in)
		if err != nil {
			return nil, err
		}
		return partsOf(out)
	}
	to.addTool(declared)
	return declared
}

func (p *Plugin) addTool(declared *ToolDeclaration) {
	name := declared.name
	if !toolName.MatchString(name) {
		panic(fmt.Sprintf("plugin: %q is no name for a tool: it is a letter, then letters, digits, underscores", name))
	}
	if p.tools[name] != nil {
		panic(fmt.Sprintf("plugin: there are two tools %q", name))
	}
	p.tools[name] = declared
	p.toolNames = append(p.toolNames, name)
}

// InputSchema says what the arguments are, in the place of the schema that the type makes: for one that is known only while the
// plugin runs, beside a map. It must be of type object.
func (t *ToolDeclaration) InputSchema(schema map[string]any) *ToolDeclaration {
	t.input = schema
	return t
}

// RerunSafe says that running it twice does no harm: it is then run again by itself after a crash.
func (t *ToolDeclaration) RerunSafe() *ToolDeclaration {
	t.rerunSafe = true
	return t
}

// TimeLimit says how long one call may take; a minute where nothing is said, at most a day.
func (t *ToolDeclaration) TimeLimit(limit time.Duration) *ToolDeclaration {
	t.timeLimit = limit
	return t
}

// toolRequest is a call in the terms of no major.
type toolRequest interface {
	GetCallId() string
	GetSessionId() string
	GetWorkspace() string
	GetTool() string
	GetArgs() *structpb.Struct
}

// callTool runs one call: progress and output as they come, then the result, once. What the tool returns as an error is
// a result, too. Nothing is said of a call that was cancelled.
func (l *life) callTool(ctx context.Context, request toolRequest, to newsWriter) error {
	declared := l.plugin.tools[request.GetTool()]
	if declared == nil {
		declared = l.offers.tool(request.GetTool())
	}
	if declared == nil {
		return status.Errorf(codes.NotFound, "there is no tool %q here", request.GetTool())
	}
	done, err := l.work.begin()
	if err != nil {
		return err
	}
	defer done()
	said := &news{to: to}
	defer said.end()
	call := &Call{Conversation: l.conversation(request), Output: said}
	call.show = said.progress
	var parts Parts
	err = safely("the tool "+declared.name, func() (err error) {
		parts, err = declared.run(ctx, call, request.GetArgs())
		return err
	})
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		// The model reads the message; the log is for the author.
		fmt.Fprintf(os.Stderr, "error: %s: %v\n", declared.name, err)
		return said.result(nil, failureOf(err))
	}
	return said.result(parts, nil)
}

// Part is a part of a result: made by [Text], [JSON] or [Artifact].
type Part struct {
	text     string
	json     *structpb.Value
	artifact string
	err      error
}

// Parts are a result of several parts, in order.
type Parts []Part

// Text is a part that the model reads as it is.
func Text(text string) Part { return Part{text: readable(text)} }

// JSON is a part of data, which the model reads as JSON.
func JSON(value any) Part {
	encoded, err := valueOf(value)
	return Part{json: encoded, err: err}
}

// Artifact is a part that names an artifact which the plugin wrote before.
func Artifact(id string) Part { return Part{artifact: id} }

func partsOf(out any) (Parts, error) {
	switch result := out.(type) {
	case string:
		return Parts{Text(result)}, nil
	case Part:
		return Parts{result}, result.err
	case Parts:
		for _, part := range result {
			if part.err != nil {
				return nil, part.err
			}
		}
		return result, nil
	case nil, struct{}:
		return nil, nil
	default:
		part := JSON(out)
		return Parts{part}, part.err
	}
}

// valueOf makes a value one that a message can hold, by way of its JSON.
func valueOf(value any) (*structpb.Value, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("the value cannot be written as JSON: %w", err)
	}
	encoded := &structpb.Value{}
	if err := encoded.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("the value cannot be sent: %w", err)
	}
	return encoded, nil
}

// decode reads what a message holds into a Go value, over the defaults of its struct tags.
func decode(from *structpb.Struct, into any) error {
	text, err := json.Marshal(from.AsMap())
	if err != nil {
		return err
	}
	setDefaults(reflect.ValueOf(into).Elem())
	return json.Unmarshal(text, into)
}
