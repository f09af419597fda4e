package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// ModelRequest is what a model is asked.
type ModelRequest struct {
	// Model is never empty.
	Model string
	// System holds the instructions.
	System string
	// Messages are those of user and assistant in turns.
	Messages []ModelMessage
	Tools    []ModelTool
	// MaxTokens is the most that it may answer; 0 for as much as the model gives.
	MaxTokens uint32
}

// ModelMessage is one side's words; Role is "user" or "assistant".
type ModelMessage struct {
	Role  string
	Parts []ModelPart
}

// ModelPart is a part of a message; of its fields one is set.
type ModelPart struct {
	Text, Thinking string
	Call           *ModelCall
	Result         *ModelCallResult
}

// ModelCall is a call that the model wanted.
type ModelCall struct {
	ID, Tool string
	Args     map[string]any
}

// ModelCallResult is what such a call came to.
type ModelCallResult struct {
	ID, Text string
	IsError  bool
}

// ModelTool is what the model may call.
type ModelTool struct {
	Name, Description string
	InputSchema       map[string]any
}

// Usage counts tokens.
type Usage struct {
	Input, Output uint32
}

type modelProvider struct {
	name, defaultModel string
	generate           func(ctx context.Context, host *Host, request ModelRequest, reply *Reply) error
}

// Model declares a model provider: `claw say --model NAME/MODEL`. The function says the reply; what it returns as an error ends the
// reply as a failure; [Unavailable], or Retryable of an [Error], says that trying again may help.
func (p *Plugin) Model(
	name, defaultModel string,
	generate func(ctx context.Context, host *Host, request ModelRequest, reply *Reply) error,
) {
	p.models = append(p.models, &modelProvider{name: name, defaultModel: defaultModel, generate: generate})
}

// Reply is what a model says. Pieces of text go out at once, and as a whole part when something else follows. For one goroutine.
type Reply struct {
	stream grpc.ServerStreamingServer[pluginv1.GenerateResponse]
	text   strings.Builder
	calls  int
	ended  bool
}

var errEnded = errors.New("the reply has ended already")

// Text says a piece of text.
func (r *Reply) Text(piece string) error {
	if r.ended {
		return errEnded
	}
	piece = readable(piece)
	r.text.WriteString(piece)
	return r.stream.Send(&pluginv1.GenerateResponse{News: &pluginv1.GenerateResponse_TextDelta{TextDelta: piece}})
}

// Thinking says a thought, whole.
func (r *Reply) Thinking(thought string) error {
	return r.part(&pluginv1.ModelPart{Part: &pluginv1.ModelPart_Thinking{Thinking: readable(thought)}})
}

// Call wants a tool to be called; without an id it gets one.
func (r *Reply) Call(call ModelCall) error {
	args, err := structOf(call.Args)
	if err != nil {
		return err
	}
	r.calls++
	if call.ID == "" {
		call.ID = fmt.Sprintf("call-%d", r.calls)
	}
	wanted := &pluginv1.ModelCall{CallId: call.ID, Tool: call.Tool, Args: args}
	return r.part(&pluginv1.ModelPart{Part: &pluginv1.ModelPart_Call{Call: wanted}})
}

// End ends the reply: "done", "calls", "length" or "refused"; empty means calls when there are any, else done. A function that
// returns without it ends so, too.
func (r *Reply) End(stop string, usage Usage) error {
	if err := r.closeText(); err != nil {
		return err
	}
	r.ended = true
	end := &pluginv1.GenerateEnd{Stop: stop, InputTokens: usage.Input, OutputTokens: usage.Output}
	return r.stream.Send(&pluginv1.GenerateResponse{News: &pluginv1.GenerateResponse_End{End: end}})
}

func (r *Reply) part(part *pluginv1.ModelPart) error {
	if err := r.closeText(); err != nil {
		return err
	}
	return r.stream.Send(&pluginv1.GenerateResponse{News: &pluginv1.GenerateResponse_Part{Part: part}})
}

// closeText says the text so far as a whole part.
func (r *Reply) closeText() error {
	if r.ended {
		return errEnded
	}
	if r.text.Len() == 0 {
		return nil
	}
	whole := &pluginv1.ModelPart{Part: &pluginv1.ModelPart_Text{Text: r.text.String()}}
	r.text.Reset()
	return r.stream.Send(&pluginv1.GenerateResponse{News: &pluginv1.GenerateResponse_Part{Part: whole}})
}

type modelServer struct {
	pluginv1.UnimplementedModelServiceServer
	life *life
}

func (s *modelServer) Generate(said *pluginv1.GenerateRequest, stream grpc.ServerStreamingServer[pluginv1.GenerateResponse]) error {
	for _, provider := range s.life.plugin.models {
		if provider.name == said.Provider {
			return s.life.generate(provider, said, stream)
		}
	}
	return status.Errorf(codes.NotFound, "there is no model provider %q here", said.Provider)
}

func (l *life) generate(
	provider *modelProvider,
	said *pluginv1.GenerateRequest,
	stream grpc.ServerStreamingServer[pluginv1.GenerateResponse],
) error {
	done, err := l.work.begin()
	if err != nil {
		return err
	}
	defer done()
	ctx := stream.Context()
	reply := &Reply{stream: stream}
	err = safely("the model "+provider.name, func() error {
		return provider.generate(ctx, l.host(), readRequest(said), reply)
	})
	switch {
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	case reply.ended:
		return nil
	case err == nil:
		return reply.End("", Usage{})
	}
	fmt.Fprintf(os.Stderr, "error: model %s: %v\n", provider.name, err)
	failure := failureOf(err)
	end := &pluginv1.GenerateFailure{Message: failure.Message, Retryable: failure.Retryable || failure.Code == Unavailable}
	return stream.Send(&pluginv1.GenerateResponse{News: &pluginv1.GenerateResponse_Failure{Failure: end}})
}

func readRequest(said *pluginv1.GenerateRequest) ModelRequest {
	request := ModelRequest{Model: said.Model, System: said.System, MaxTokens: said.MaxTokens}
	for _, message := range said.Messages {
		read := ModelMessage{Role: message.Role}
		for _, part := range message.Parts {
			read.Parts = append(read.Parts, readPart(part))
		}
		request.Messages = append(request.Messages, read)
	}
	for _, tool := range said.Tools {
		schema := tool.InputSchema.AsMap()
		request.Tools = append(request.Tools, ModelTool{Name: tool.Name, Description: tool.Description, InputSchema: schema})
	}
	return request
}

func readPart(part *pluginv1.ModelPart) ModelPart {
	switch said := part.Part.(type) {
	case *pluginv1.ModelPart_Text:
		return ModelPart{Text: said.Text}
	case *pluginv1.ModelPart_Thinking:
		return ModelPart{Thinking: said.Thinking}
	case *pluginv1.ModelPart_Call:
		return ModelPart{Call: &ModelCall{ID: said.Call.CallId, Tool: said.Call.Tool, Args: said.Call.Args.AsMap()}}
	case *pluginv1.ModelPart_Result:
		return ModelPart{Result: &ModelCallResult{ID: said.Result.CallId, Text: said.Result.Text, IsError: said.Result.IsError}}
	default:
		return ModelPart{}
	}
}
