package plugin

import (
	"context"

	"google.golang.org/grpc"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
	pluginv2 "clawd.dev/plugin/gen/clawd/plugin/v2"
)

// major2 is PluginService of the second major: a result is made of parts, and a failure has a code.
type major2 struct {
	pluginv2.UnimplementedPluginServiceServer
	life *life
}

func (m *major2) Initialize(ctx context.Context, said *pluginv2.InitializeRequest) (*pluginv2.InitializeResponse, error) {
	facts, err := m.life.initialize(ctx, said.Facts)
	if err != nil {
		return nil, err
	}
	return &pluginv2.InitializeResponse{Facts: facts}, nil
}

func (m *major2) Configure(ctx context.Context, said *pluginv2.ConfigureRequest) (*pluginv2.ConfigureResponse, error) {
	problem, restart := m.life.configure(ctx, said.Config)
	return &pluginv2.ConfigureResponse{Problem: problem, RestartRequired: restart}, nil
}

func (m *major2) ListTools(context.Context, *pluginv2.ListToolsRequest) (*pluginv2.ListToolsResponse, error) {
	return &pluginv2.ListToolsResponse{Tools: m.life.declaredTools()}, nil
}

func (m *major2) CallTool(said *pluginv2.CallToolRequest, stream grpc.ServerStreamingServer[pluginv2.CallToolResponse]) error {
	return m.life.callTool(stream.Context(), said, news2{stream})
}

func (m *major2) Drain(ctx context.Context, said *pluginv2.DrainRequest) (*pluginv2.DrainResponse, error) {
	m.life.drain(ctx, said.TimeLimitMs)
	return &pluginv2.DrainResponse{}, nil
}

func (m *major2) Shutdown(context.Context, *pluginv2.ShutdownRequest) (*pluginv2.ShutdownResponse, error) {
	m.life.stop()
	return &pluginv2.ShutdownResponse{}, nil
}

type news2 struct {
	stream grpc.ServerStreamingServer[pluginv2.CallToolResponse]
}

func (n news2) sendProgress(line string) error {
	return n.stream.Send(&pluginv2.CallToolResponse{News: &pluginv2.CallToolResponse_Progress{Progress: line}})
}

func (n news2) sendOutput(data []byte) error {
	chunk := &pluginv1.OutputChunk{Data: data}
	return n.stream.Send(&pluginv2.CallToolResponse{News: &pluginv2.CallToolResponse_Output{Output: chunk}})
}

func (n news2) sendResult(parts Parts, failure *Error) error {
	result := &pluginv2.ToolResult{}
	if failure != nil {
		parts = Parts{Text(failure.Message)}
		result.Failure = &pluginv2.ToolFailure{
			Code:      string(failure.Code),
			Message:   failure.Message,
			Hint:      failure.Hint,
			Category:  failure.Category,
			Retryable: failure.Retryable,
		}
	}
	for _, part := range parts {
		result.Parts = append(result.Parts, part.wire())
	}
	return n.stream.Send(&pluginv2.CallToolResponse{News: &pluginv2.CallToolResponse_Result{Result: result}})
}

func (p Part) wire() *pluginv2.ResultPart {
	switch {
	case p.json != nil:
		return &pluginv2.ResultPart{Part: &pluginv2.ResultPart_Json{Json: p.json}}
	case p.artifact != "":
		return &pluginv2.ResultPart{Part: &pluginv2.ResultPart_ArtifactId{ArtifactId: p.artifact}}
	default:
		return &pluginv2.ResultPart{Part: &pluginv2.ResultPart_Text{Text: p.text}}
	}
}
