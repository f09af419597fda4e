package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
	pluginv2 "clawd.dev/plugin/gen/clawd/plugin/v2"
)

// testHost is a host on real pipes and sockets, with one plugin that it started.
type testHost struct {
	pluginv1.UnimplementedHostServiceServer
	stdin    io.WriteCloser
	ended    chan error
	hello    *pluginv1.Hello
	calls    *grpc.ClientConn
	mu       sync.Mutex
	logs     []string
	progress []string
	values   map[string]*structpb.Value
	artifact []byte
	offered  []string
	// asked is the form of the last question, content what is filled in.
	asked, content *structpb.Struct
}

func startHost(t *testing.T, p *Plugin, offered ...uint32) *testHost {
	t.Helper()
	dir, err := os.MkdirTemp("", "sdk")
	if err != nil {
		t.Fatal(err)
	}
	host := &testHost{ended: make(chan error, 1), hello: &pluginv1.Hello{}, values: map[string]*structpb.Value{}}
	listener, err := net.Listen("unix", filepath.Join(dir, "h.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.InTapHandle(guard("out")))
	pluginv1.RegisterHostServiceServer(server, host)
	go server.Serve(listener)
	input, stdin := io.Pipe()
	helloReader, hello := io.Pipe()
	host.stdin = stdin
	go func() { host.ended <- p.serve(context.Background(), input, hello) }()
	boot, err := protojson.Marshal(&pluginv1.Boot{
		BootVersion: 1, ProtocolMajors: offered, Listen: filepath.Join(dir, "p.sock"), Host: filepath.Join(dir, "h.sock"),
		InboundToken: "in", OutboundToken: "out",
	})
	if err != nil {
		t.Fatal(err)
	}
	go stdin.Write(append(boot, '\n'))
	line, err := io.ReadAll(helloReader)
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(line, host.hello); err != nil {
		t.Fatalf("the hello %q: %v", line, err)
	}
	host.calls, err = grpc.NewClient("unix:"+filepath.Join(dir, "p.sock"),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(bearer("Bearer in")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		host.calls.Close()
		stdin.Close()
		server.Stop()
		os.RemoveAll(dir)
	})
	return host
}

func (h *testHost) Log(_ context.Context, said *pluginv1.LogRequest) (*pluginv1.LogResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logs = append(h.logs, said.Level.String()+" "+said.Message)
	return &pluginv1.LogResponse{}, nil
}

func (h *testHost) Progress(_ context.Context, said *pluginv1.ProgressRequest) (*pluginv1.ProgressResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.progress = append(h.progress, said.CallId+": "+said.Text)
	return &pluginv1.ProgressResponse{}, nil
}

func (h *testHost) Recall(context.Context, *pluginv1.RecallRequest) (*pluginv1.RecallResponse, error) {
	return nil, status.Error(codes.PermissionDenied, "it was not granted memory=read")
}

func (h *testHost) Ask(_ context.Context, said *pluginv1.AskRequest) (*pluginv1.AskResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = said.RequestedSchema
	return &pluginv1.AskResponse{Yes: said.CallId == "c1", Answered: true, Content: h.content}, nil
}

func (h *testHost) CallTool(_ context.Context, said *pluginv1.HostServiceCallToolRequest) (*pluginv1.HostServiceCallToolResponse, error) {
	text, err := said.Args.MarshalJSON()
	return &pluginv1.HostServiceCallToolResponse{Text: said.Tool + compact(text), IsError: said.Tool == "broken"}, err
}

func (h *testHost) SetValue(_ context.Context, said *pluginv1.SetValueRequest) (*pluginv1.SetValueResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.values[said.Key] = said.Value
	return &pluginv1.SetValueResponse{}, nil
}

func (h *testHost) GetValue(_ context.Context, said *pluginv1.GetValueRequest) (*pluginv1.GetValueResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	value, found := h.values[said.Key]
	return &pluginv1.GetValueResponse{Found: found, Value: value}, nil
}

func (h *testHost) WriteArtifact(_ context.Context, said *pluginv1.WriteArtifactRequest) (*pluginv1.WriteArtifactResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.artifact = append(h.artifact, said.Data...)
	return &pluginv1.WriteArtifactResponse{ArtifactId: "a1", SizeBytes: float64(len(h.artifact))}, nil
}

func (h *testHost) ReadArtifact(_ context.Context, said *pluginv1.ReadArtifactRequest) (*pluginv1.ReadArtifactResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	from := min(int(said.OffsetBytes), len(h.artifact))
	return &pluginv1.ReadArtifactResponse{Data: h.artifact[from:min(from+int(said.LimitBytes), len(h.artifact))]}, nil
}

func compact(text []byte) string { return strings.ReplaceAll(string(text), " ", "") }

// call gives what a tool said by the second major: progress, output and the result, as lines.
func (h *testHost) call(t *testing.T, ctx context.Context, tool, args string) ([]string, error) {
	t.Helper()
	fields := &structpb.Struct{}
	if err := fields.UnmarshalJSON([]byte(args)); err != nil {
		t.Fatal(err)
	}
	request := &pluginv2.CallToolRequest{CallId: "c1", SessionId: "s1", Workspace: "/w", Tool: tool, Args: fields}
	stream, err := pluginv2.NewPluginServiceClient(h.calls).CallTool(ctx, request)
	if err != nil {
		return nil, err
	}
	var lines []string
	for {
		said, err := stream.Recv()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		switch news := said.News.(type) {
		case *pluginv2.CallToolResponse_Progress:
			lines = append(lines, "progress "+news.Progress)
		case *pluginv2.CallToolResponse_Output:
			lines = append(lines, "output "+string(news.Output.Data))
		case *pluginv2.CallToolResponse_Result:
			for _, part := range news.Result.Parts {
				text, err := protojson.Marshal(part)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, compact(text))
			}
			if failure := news.Result.Failure; failure != nil {
				line := failure.Code + ": " + failure.Message + " (" + failure.Hint + ")"
				if failure.Retryable {
					line += " again, " + failure.Category
				}
				lines = append(lines, line)
			}
		}
	}
}

func expect(t *testing.T, got any, want string) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

type none struct{}

func TestResultsOfEveryKind(t *testing.T) {
	p := New("kinds", "1.0.0")
	Tool(p, "text", "", func(context.Context, *Call, none) (string, error) { return "a\xff", nil })
	Tool(p, "data", "", func(context.Context, *Call, none) (map[string]int, error) { return map[string]int{"n": 1}, nil })
	Tool(p, "parts", "", func(context.Context, *Call, none) (Parts, error) {
		return Parts{Text("see"), JSON([]int{1}), Artifact("a1")}, nil
	})
	Tool(p, "nothing", "", func(context.Context, *Call, none) (any, error) { return nil, nil })
	Tool(p, "unsayable", "", func(context.Context, *Call, none) (any, error) { return func() {}, nil })
	Tool(p, "panics", "", func(context.Context, *Call, none) (string, error) { panic("oh no") })
	Tool(p, "missing", "", func(context.Context, *Call, none) (string, error) {
		return "", Errorf(NotFound, "no page %d", 7).WithHint("ask for 1 to 6")
	})
	Tool(p, "busy", "", func(context.Context, *Call, none) (string, error) {
		busy := &Error{Code: Exhausted, Message: "too often", Category: "rate_limited", Retryable: true}
		return "", fmt.Errorf("asking: %w", busy)
	})
	host := startHost(t, p, 1, 2)
	for tool, want := range map[string]string{
		"text":      `["{\"text\":\"a�\"}"]`,
		"data":      `["{\"json\":{\"n\":1}}"]`,
		"parts":     `["{\"text\":\"see\"}","{\"json\":[1]}","{\"artifactId\":\"a1\"}"]`,
		"nothing":   `null`,
		"unsayable": `["{\"text\":\"thevaluecannotbewrittenasJSON:json:unsupportedtype:func()\"}","invalid: the value cannot be written as JSON: json: unsupported type: func() ()"]`,
		"panics":    `["{\"text\":\"thetoolpanicspanicked:ohno\"}","invalid: the tool panics panicked: oh no ()"]`,
		"busy":      `["{\"text\":\"asking:toooften\"}","exhausted: asking: too often () again, rate_limited"]`,
		"missing":   `["{\"text\":\"nopage7\"}","not_found: no page 7 (ask for 1 to 6)"]`,
	} {
		lines, err := host.call(t, t.Context(), tool, "{}")
		if err != nil {
			t.Fatal(tool, err)
		}
		expect(t, lines, want)
	}
	if _, err := host.call(t, t.Context(), "unknown", "{}"); status.Code(err) != codes.NotFound {
		t.Error("a tool that is not there answered", err)
	}
}

func TestArgumentsComeOverTheirDefaults(t *testing.T) {
	type inner struct {
		Depth int `json:"depth" default:"3"`
	}
	type input struct {
		Word  string  `json:"word" default:"none"`
		Count *uint8  `json:"count" default:"2"`
		Ratio float64 `json:"ratio" default:"0.5"`
		Loud  bool    `json:"loud" default:"true"`
		Inner inner   `json:"inner,omitzero"`
	}
	p := New("defaults", "1.0.0")
	Tool(p, "show", "", func(_ context.Context, _ *Call, in input) (input, error) { return in, nil })
	host := startHost(t, p, 2)
	lines, _ := host.call(t, t.Context(), "show", "{}")
	expect(t, lines, `["{\"json\":{\"count\":2,\"inner\":{\"depth\":3},\"loud\":true,\"ratio\":0.5,\"word\":\"none\"}}"]`)
	lines, _ = host.call(t, t.Context(), "show", `{"word":"w","count":9,"loud":false,"inner":{"depth":1}}`)
	expect(t, lines, `["{\"json\":{\"count\":9,\"inner\":{\"depth\":1},\"loud\":false,\"ratio\":0.5,\"word\":\"w\"}}"]`)
	lines, _ = host.call(t, t.Context(), "show", `{"count":300}`)
	if len(lines) != 2 || !strings.Contains(lines[1], "invalid: the arguments do not fit") {
		t.Error("a number that does not fit gave", lines)
	}
}

func TestOutputKeepsItsOrderAndIsJoined(t *testing.T) {
	p := New("talks", "1.0.0")
	const writes = 2_000
	Tool(p, "talk", "", func(_ context.Context, call *Call, _ none) (string, error) {
		for i := range writes {
			call.Output.Write([]byte("0123456789"))
			if i == writes/2 {
				call.Progress("half")
			}
		}
		return "end", nil
	})
	host := startHost(t, p, 2)
	lines, err := host.call(t, t.Context(), "talk", "{}")
	if err != nil {
		t.Fatal(err)
	}
	text, pieces := "", 0
	for _, line := range lines {
		if rest, isOutput := strings.CutPrefix(line, "output "); isOutput {
			text += rest
			pieces++
		} else if line == "progress half" && len(text) != (writes/2+1)*10 {
			t.Error("the progress came after", len(text), "bytes")
		}
	}
	if text != strings.Repeat("0123456789", writes) {
		t.Error("the output has", len(text), "bytes")
	}
	if pieces > writes/10 {
		t.Error(writes, "small writes were sent as", pieces, "messages")
	}
}

func TestACallCutShortEndsItsContextAndItsOutput(t *testing.T) {
	p := New("waits", "1.0.0")
	ended := make(chan error, 1)
	Tool(p, "wait", "", func(ctx context.Context, call *Call, _ none) (string, error) {
		call.Progress("waiting")
		<-ctx.Done()
		for err := error(nil); ; _, err = call.Output.Write(make([]byte, pieceBytes)) {
			if err != nil {
				ended <- err
				return "", ctx.Err()
			}
		}
	})
	host := startHost(t, p, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := host.call(t, ctx, "wait", "{}"); status.Code(err) != codes.DeadlineExceeded {
		t.Error("the call ended with", err)
	}
	if err := <-ended; !strings.Contains(err.Error(), errOver.Error()) {
		t.Error("writing ended with", err)
	}
}

func TestWhatItAsksOfItsHost(t *testing.T) {
	p := New("asks", "1.0.0")
	Tool(p, "ask", "", func(ctx context.Context, call *Call, _ none) ([]any, error) {
		_, denied := call.Recall(ctx, "x", 1)
		yes, answered, _ := call.Ask(ctx, "Really?")
		text, _ := call.CallTool(ctx, "read", map[string]string{"path": "a"})
		_, refused := call.CallTool(ctx, "broken", nil)
		_, noObject := call.CallTool(ctx, "read", []int{1})
		var kept []string
		before, _ := call.Value(ctx, "k", &kept)
		_ = call.SetValue(ctx, "k", []string{"v"})
		after, _ := call.Value(ctx, "k", &kept)
		id, _ := call.WriteArtifact(ctx, "text/plain", make([]byte, artifactPieceBytes+5))
		read, _ := call.ReadArtifact(ctx, id, 3, 1<<30)
		call.Logger().With("n", 1).WithGroup("g").Warn("odd", "why", "so so")
		return []any{failureOf(denied).Code, yes, answered, text, refused.Error(), noObject.Error(), before, after, kept, id, len(read)}, nil
	})
	host := startHost(t, p, 2)
	lines, err := host.call(t, t.Context(), "ask", "{}")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, lines, `["{\"json\":[\"denied\",true,true,\"read{\\\"path\\\":\\\"a\\\"}\",\"broken{}\",\"a[]intisnoJSONobject;giveastructoramap\",false,true,[\"v\"],\"a1\",1048578]}"]`)
	expect(t, host.logs, `["LOG_LEVEL_WARNING odd n=1 g.why=\"so so\""]`)
}

func TestSettingsAreTakenRefusedOrWaitForTheNextStart(t *testing.T) {
	type settings struct {
		Depth int `json:"depth" default:"2"`
	}
	p := New("set", "1.0.0")
	var seen []int
	Settings(p, func(_ context.Context, s settings) error {
		seen = append(seen, s.Depth)
		switch s.Depth {
		case 13:
			return Errorf(Invalid, "13 brings bad luck")
		case 99:
			return ErrRestart
		}
		return nil
	})
	client := pluginv1.NewPluginServiceClient(startHost(t, p, 1).calls)
	said, err := client.Initialize(t.Context(), &pluginv1.InitializeRequest{})
	if err != nil || said.Version != "1.0.0" {
		t.Fatal(said, err)
	}
	configure := func(depth float64) *pluginv1.ConfigureResponse {
		config, _ := structpb.NewStruct(map[string]any{"depth": depth})
		said, err := client.Configure(t.Context(), &pluginv1.ConfigureRequest{Config: config})
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	expect(t, configure(13).Problem, `"13 brings bad luck"`)
	expect(t, configure(99).RestartRequired, `true`)
	expect(t, configure(4).Problem, `""`)
	expect(t, seen, `[2,13,99,4]`)
}

func TestModelsSayPiecesWholePartsAndAnEnd(t *testing.T) {
	p := New("speaks", "1.0.0")
	p.Model("parrot", "grey", func(_ context.Context, _ *Host, request ModelRequest, reply *Reply) error {
		if request.Model == "mute" {
			return Errorf(Unavailable, "it sleeps")
		}
		_ = reply.Text("a")
		_ = reply.Text("b")
		return reply.Call(ModelCall{Tool: "read", Args: map[string]any{"path": request.Messages[0].Parts[0].Text}})
	})
	client := pluginv1.NewModelServiceClient(startHost(t, p, 2).calls)
	generate := func(model string) (all []string) {
		text := &pluginv1.ModelPart{Part: &pluginv1.ModelPart_Text{Text: "x"}}
		messages := []*pluginv1.ModelMessage{{Role: "user", Parts: []*pluginv1.ModelPart{text}}}
		stream, err := client.Generate(t.Context(), &pluginv1.GenerateRequest{Provider: "parrot", Model: model, Messages: messages})
		for err == nil {
			var said *pluginv1.GenerateResponse
			if said, err = stream.Recv(); err == nil {
				line, _ := protojson.Marshal(said)
				all = append(all, compact(line))
			}
		}
		return all
	}
	expect(t, generate("grey"), `["{\"textDelta\":\"a\"}","{\"textDelta\":\"b\"}","{\"part\":{\"text\":\"ab\"}}",`+
		`"{\"part\":{\"call\":{\"callId\":\"call-1\",\"tool\":\"read\",\"args\":{\"path\":\"x\"}}}}","{\"end\":{}}"]`)
	expect(t, generate("mute"), `["{\"failure\":{\"message\":\"itsleeps\",\"retryable\":true}}"]`)
}

func TestMemoryAndCommands(t *testing.T) {
	p := New("offers", "1.0.0")
	p.Embedder("e1", 2, func(_ context.Context, texts []string, kind Kind) ([][]float32, error) {
		if texts[0] == "" {
			return nil, Errorf(Invalid, "no text")
		}
		return [][]float32{{float32(len(texts)), float32(len(kind))}}, nil
	})
	p.MemorySource("docs", "", func(_ context.Context, _ *Host, give func(Document) error) error {
		_ = give(Document{ID: "1", Text: "one"})
		return Errorf(Unavailable, "the lake is dry")
	})
	p.SlashCommand("hi", "", func(_ context.Context, command *Command) (Outcome, error) {
		command.Progress("hm")
		if command.Args == "" {
			return Outcome{}, nil
		}
		return Say("hello " + command.Args), nil
	})
	host := startHost(t, p, 1)
	embed := pluginv1.NewEmbedServiceClient(host.calls)
	vectors, err := embed.Embed(t.Context(), &pluginv1.EmbedRequest{Embedder: "e1", Texts: []string{"a", "b"}, IsQuery: true})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, vectors.Vectors[0].Values, `[2,5]`)
	_, err = embed.Embed(t.Context(), &pluginv1.EmbedRequest{Embedder: "e1", Texts: []string{""}})
	expect(t, []any{status.Code(err), status.Convert(err).Message()}, `[10,"no text"]`)
	stream, _ := pluginv1.NewMemorySourceServiceClient(host.calls).ListDocuments(t.Context(), &pluginv1.ListDocumentsRequest{Source: "docs"})
	document, _ := stream.Recv()
	_, err = stream.Recv()
	expect(t, []any{document.GetText(), status.Convert(err).Message()}, `["one","the lake is dry"]`)
	commands := pluginv1.NewSlashCommandServiceClient(host.calls)
	said, _ := commands.RunSlashCommand(t.Context(), &pluginv1.RunSlashCommandRequest{Command: "hi", Args: "you", CallId: "c9"})
	_, err = commands.RunSlashCommand(t.Context(), &pluginv1.RunSlashCommandRequest{Command: "hi"})
	expect(t, []any{said.GetSay(), status.Convert(err).Message()}, `["hello you","the command /hi gave no outcome: give Say or Show"]`)
	expect(t, host.progress, `["c9: hm",": hm"]`)
}

func TestItEndsWhenToldToAndWhenItsHostIsGone(t *testing.T) {
	for _, how := range []string{"shutdown", "end of input"} {
		p := New("ends", "1.0.0")
		stopped := make(chan struct{})
		p.OnStop(func(context.Context) { close(stopped) })
		p.Hook("tool.before", func(context.Context, *Event) (Verdict, error) { return Pass(), nil })
		host := startHost(t, p, 1)
		// A stream of hooks that stands open holds up no end.
		if _, err := pluginv1.NewHookServiceClient(host.calls).StreamHooks(t.Context()); err != nil {
			t.Fatal(err)
		}
		if how == "shutdown" {
			if _, err := pluginv1.NewPluginServiceClient(host.calls).Shutdown(t.Context(), &pluginv1.ShutdownRequest{}); err != nil {
				t.Fatal(err)
			}
		} else {
			host.stdin.Close()
		}
		if err := <-host.ended; err != nil {
			t.Error(how, err)
		}
		<-stopped
	}
}

func TestABadStartIsTold(t *testing.T) {
	host := startHost(t, New("late", "1.0.0"), 7)
	expect(t, host.hello.Error, `"clawd-sdk-go/1 speaks clawd.plugin major 1 and 2, the host speaks [7]"`)
	if err := <-host.ended; err == nil {
		t.Error("it ran all the same")
	}
	for _, line := range []string{"", "hello\n", strings.Repeat("x", 2*maxBootBytes)} {
		if err := New("x", "1").serve(t.Context(), strings.NewReader(line), nil); err == nil {
			t.Errorf("%.20q was taken for a Boot", line)
		}
	}
}

func TestAStrangerIsTurnedAway(t *testing.T) {
	host := startHost(t, New("shut", "1.0.0"), 1)
	for _, token := range []string{"", "a guess", "Bearer in\x00"} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", token)
		stranger, err := grpc.NewClient(host.calls.Target(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		_, err = pluginv1.NewPluginServiceClient(stranger).ListTools(ctx, &pluginv1.ListToolsRequest{})
		if code := status.Code(err); code != codes.Unauthenticated && code != codes.Internal {
			t.Errorf("%q was answered by %v", token, err)
		}
		stranger.Close()
	}
}
