package plugin

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// major1 is PluginService of the first major: a result is one text.
type major1 struct {
	pluginv1.UnimplementedPluginServiceServer
	life *life
}

func (m *major1) Initialize(ctx context.Context, said *pluginv1.InitializeRequest) (*pluginv1.InitializeResponse, error) {
	return m.life.initialize(ctx, said)
}

func (m *major1) Configure(ctx context.Context, said *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	problem, restart := m.life.configure(ctx, said.Config)
	return &pluginv1.ConfigureResponse{Problem: problem, RestartRequired: restart}, nil
}

func (m *major1) ListTools(context.Context, *pluginv1.ListToolsRequest) (*pluginv1.ListToolsResponse, error) {
	return &pluginv1.ListToolsResponse{Tools: m.life.declaredTools()}, nil
}

func (m *major1) CallTool(said *pluginv1.CallToolRequest, stream grpc.ServerStreamingServer[pluginv1.CallToolResponse]) error {
	return m.life.callTool(stream.Context(), said, news1{stream})
}

func (m *major1) Drain(ctx context.Context, said *pluginv1.DrainRequest) (*pluginv1.DrainResponse, error) {
	m.life.drain(ctx, said.TimeLimitMs)
	return &pluginv1.DrainResponse{}, nil
}

func (m *major1) Shutdown(context.Context, *pluginv1.ShutdownRequest) (*pluginv1.ShutdownResponse, error) {
	m.life.stop()
	return &pluginv1.ShutdownResponse{}, nil
}

type news1 struct {
	stream grpc.ServerStreamingServer[pluginv1.CallToolResponse]
}

func (n news1) sendProgress(line string) error {
	return n.stream.Send(&pluginv1.CallToolResponse{News: &pluginv1.CallToolResponse_Progress{Progress: line}})
}

func (n news1) sendOutput(data []byte) error {
	chunk := &pluginv1.OutputChunk{Data: data}
	return n.stream.Send(&pluginv1.CallToolResponse{News: &pluginv1.CallToolResponse_Output{Output: chunk}})
}

func (n news1) sendResult(parts Parts, failure *Error) error {
	texts := make([]string, 0, len(parts))
	for _, part := range parts {
		texts = append(texts, part.plain())
	}
	result := &pluginv1.ToolResult{Text: strings.Join(texts, "\n")}
	if failure != nil {
		result = &pluginv1.ToolResult{IsError: true, Text: failure.Message}
	}
	return n.stream.Send(&pluginv1.CallToolResponse{News: &pluginv1.CallToolResponse_Result{Result: result}})
}

// plain is a part where there is nothing but text.
func (p Part) plain() string {
	switch {
	case p.json != nil:
		text, err := p.json.MarshalJSON()
		if err != nil {
			return err.Error()
		}
		return string(text)
	case p.artifact != "":
		return fmt.Sprintf("[artifact %s]", p.artifact)
	default:
		return p.text
	}
}
