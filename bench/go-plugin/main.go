// A plugin on hashicorp/go-plugin and its host, in one program: the peer of a plugin on our library for Go. The host reads
// lines "hook COUNT", "tool COUNT" or "pour MEBIBYTES" and answers each with a line of JSON: the microseconds of each call.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	pieceBytes    = 64 * 1024
	piecesPerMib  = 16
	bytesPerMib   = 1024 * 1024
	textBytes     = 200
	callTimeLimit = time.Minute
)

var handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "CLAWD_BENCH_PLUGIN",
	MagicCookieValue: "echo",
}

// The service needs no messages of its own: those that every language brings say enough.
var echoing = grpc.ServiceDesc{
	ServiceName: "bench.Echoing",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{
		{MethodName: "Hook", Handler: giveBack[structpb.Struct]},
		{MethodName: "Tool", Handler: giveBack[wrapperspb.StringValue]},
	},
	Streams: []grpc.StreamDesc{{StreamName: "Pour", Handler: pour, ServerStreams: true}},
}

func giveBack[M any](_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	message := new(M)
	return message, decode(message)
}

func pour(_ any, stream grpc.ServerStream) error {
	mebibytes := new(wrapperspb.UInt32Value)
	if err := stream.RecvMsg(mebibytes); err != nil {
		return err
	}
	piece := wrapperspb.Bytes(bytes.Repeat([]byte("x"), pieceBytes))
	for left := mebibytes.Value * piecesPerMib; left > 0; left-- {
		if err := stream.SendMsg(piece); err != nil {
			return err
		}
	}
	return nil
}

type echoPlugin struct{ plugin.NetRPCUnsupportedPlugin }

func (echoPlugin) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	server.RegisterService(&echoing, struct{}{})
	return nil
}

func (echoPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, connection *grpc.ClientConn) (any, error) {
	return connection, nil
}

var plugins = map[string]plugin.Plugin{"echo": echoPlugin{}}

func main() {
	if os.Getenv(handshake.MagicCookieKey) == handshake.MagicCookieValue {
		plugin.Serve(&plugin.ServeConfig{HandshakeConfig: handshake, Plugins: plugins, GRPCServer: plugin.DefaultGRPCServer})
		return
	}
	if err := host(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func host() error {
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake,
		Plugins:          plugins,
		Cmd:              exec.Command(os.Args[0]),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
	})
	defer client.Kill()
	dialled, err := client.Client()
	if err != nil {
		return err
	}
	dispensed, err := dialled.Dispense("echo")
	if err != nil {
		return err
	}
	connection := dispensed.(*grpc.ClientConn)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var what string
		var count int
		if _, err := fmt.Sscan(lines.Text(), &what, &count); err != nil {
			return err
		}
		took, err := measure(connection, what, count)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(took); err != nil {
			return err
		}
	}
	return lines.Err()
}

func measure(connection *grpc.ClientConn, what string, count int) ([]float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeLimit)
	defer cancel()
	text := strings.Repeat("x", textBytes)
	event, err := structpb.NewStruct(map[string]any{
		"tool": "write", "args": map[string]any{"path": "notes.md", "text": text},
	})
	if err != nil {
		return nil, err
	}
	mebibytes := count
	once := map[string]func() error{
		"hook": func() error { return connection.Invoke(ctx, "/bench.Echoing/Hook", event, new(structpb.Struct)) },
		"tool": func() error {
			return connection.Invoke(ctx, "/bench.Echoing/Tool", wrapperspb.String(text), new(wrapperspb.StringValue))
		},
		"pour": func() error { return hearPour(ctx, connection, mebibytes) },
	}[what]
	if once == nil {
		return nil, fmt.Errorf("nothing is measured by the name of %q", what)
	}
	if what == "pour" {
		count = 1
	}
	took := make([]float64, 0, count)
	for range count {
		started := time.Now()
		if err := once(); err != nil {
			return nil, err
		}
		took = append(took, float64(time.Since(started).Nanoseconds())/1000)
	}
	return took, nil
}

func hearPour(ctx context.Context, connection *grpc.ClientConn, mebibytes int) error {
	stream, err := connection.NewStream(ctx, &echoing.Streams[0], "/bench.Echoing/Pour")
	if err != nil {
		return err
	}
	if err := stream.SendMsg(wrapperspb.UInt32(uint32(mebibytes))); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	heard := 0
	for piece := new(wrapperspb.BytesValue); ; heard += len(piece.Value) {
		if err := stream.RecvMsg(piece); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	if heard != mebibytes*bytesPerMib {
		return fmt.Errorf("%d bytes came of %d MiB", heard, mebibytes)
	}
	return nil
}
