package plugin

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

func (h *testHost) Offer(_ context.Context, said *pluginv1.OfferRequest) (*pluginv1.OfferResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(said.Tools) == 0 {
		return nil, status.Error(codes.Unavailable, "not now")
	}
	line, err := protojson.Marshal(said)
	h.offered = append(h.offered, compact(line))
	names := make([]string, len(said.Tools))
	for i, tool := range said.Tools {
		names[i] = "plugin_p_" + tool.Name
	}
	return &pluginv1.OfferResponse{Names: names, Problems: []string{"one problem"}}, err
}

func (h *testHost) Generate(_ context.Context, said *pluginv1.HostServiceGenerateRequest) (*pluginv1.HostServiceGenerateResponse, error) {
	line, err := protojson.Marshal(said)
	return &pluginv1.HostServiceGenerateResponse{Text: compact(line), Stop: "done", Model: "p/m", Tokens: 3, TokensLeft: 4}, err
}

// word is a tool that an offer may have.
func word(to Tools, name string) *ToolDeclaration {
	return Tool(to, name, "Says "+name+".", func(context.Context, *Call, none) (string, error) { return name, nil })
}

func TestAnOfferTakesThePlaceOfTheLastOne(t *testing.T) {
	p := New("p", "1.0.0")
	Tool(p, "offer", "", func(ctx context.Context, call *Call, in struct{ Words []string }) (any, error) {
		offer := &Offer{}
		for _, name := range in.Words {
			word(offer, name)
		}
		offer.SlashCommand("hi", "Says hi.", func(_ context.Context, command *Command) (Outcome, error) {
			return Show(command.Named["who"]).WithMessages(map[string]string{"role": "user"}), nil
		}).Argument("who", "Whom", true)
		return call.Offer(ctx, offer)
	})
	host := startHost(t, p, 2)
	offer := func(words string) []string {
		lines, err := host.call(t, t.Context(), "offer", `{"words":`+words+`}`)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	expect(t, offer(`["a","b"]`), `["{\"json\":{\"Names\":[\"plugin_p_a\",\"plugin_p_b\"],\"Problems\":[\"oneproblem\"]}}"]`)
	offer(`["b","c"]`)
	// One that the host did not hear of takes nothing away.
	offer(`[]`)
	var found []string
	for _, name := range []string{"a", "b", "c"} {
		if _, err := host.call(t, t.Context(), name, "{}"); err == nil {
			found = append(found, name)
		}
	}
	expect(t, found, `["b","c"]`)
	commands := pluginv1.NewSlashCommandServiceClient(host.calls)
	request := &pluginv1.RunSlashCommandRequest{Command: "hi", Args: "Ada", Named: map[string]string{"who": "Ada"}, Whole: true}
	said, err := commands.RunSlashCommand(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, []any{said.GetShow(), said.Messages[0].AsMap()}, `["Ada",{"role":"user"}]`)
	request.Whole = false
	said, _ = commands.RunSlashCommand(t.Context(), request)
	expect(t, len(said.Messages), `0`)
}

func TestASchemaThatIsKnownLateIsOffered(t *testing.T) {
	p := New("p", "1.0.0")
	Settings(p, func(ctx context.Context, _ none) error {
		offer := &Offer{}
		schema := map[string]any{"type": "object", "required": []any{"x"}}
		word(offer, "no name for plugin.json").InputSchema(schema).RerunSafe().TimeLimit(2 * time.Second)
		_, err := HostFrom(ctx).Offer(ctx, offer)
		return err
	})
	host := startHost(t, p, 1)
	client := pluginv1.NewPluginServiceClient(host.calls)
	if _, err := client.Initialize(t.Context(), &pluginv1.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	expect(t, host.offered, `["{\"tools\":[{\"name\":\"nonameforplugin.json\",\"description\":\"Saysnonameforplugin.json.\",`+
		`\"inputSchema\":{\"required\":[\"x\"],\"type\":\"object\"},\"rerunSafe\":true,\"timeoutMs\":2000}]}"]`)
}

func TestThePersonFillsInAForm(t *testing.T) {
	type order struct {
		Name string `json:"name"`
		Age  *int   `json:"age"`
	}
	p := New("p", "1.0.0")
	Tool(p, "form", "", func(ctx context.Context, call *Call, _ none) (any, error) {
		return AskForm[order](ctx, &call.Conversation, "who?")
	})
	host := startHost(t, p, 2)
	host.content, _ = structpb.NewStruct(map[string]any{"name": "Ada", "age": 36})
	lines, err := host.call(t, t.Context(), "form", "{}")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, lines, `["{\"json\":{\"Answered\":true,\"Filled\":{\"age\":36,\"name\":\"Ada\"},\"Yes\":true}}"]`)
	expect(t, host.asked.AsMap()["required"], `["name"]`)
}

func TestAModelIsAskedWithTextsAlone(t *testing.T) {
	p := New("p", "1.0.0")
	Tool(p, "ask", "", func(ctx context.Context, call *Call, _ none) ([]any, error) {
		said, err := call.Generate(ctx, Prompt{System: "short", Messages: UserSays("why?"), MaxTokens: 7})
		thought := []ModelMessage{{Role: "user", Parts: []ModelPart{{Thinking: "hm"}}}}
		_, wrong := call.Generate(ctx, Prompt{Messages: thought, MaxTokens: 7})
		var failure *Error
		return []any{said, errors.As(wrong, &failure) && failure.Code == Invalid}, err
	})
	lines, err := startHost(t, p, 2).call(t, t.Context(), "ask", "{}")
	if err != nil {
		t.Fatal(err)
	}
	asked := `{\\\"callId\\\":\\\"c1\\\",\\\"system\\\":\\\"short\\\",\\\"messages\\\":[{\\\"role\\\":\\\"user\\\",\\\"parts\\\":[{\\\"text\\\":\\\"why?\\\"}]}],\\\"maxTokens\\\":7}`
	expect(t, lines, `["{\"json\":[{\"Model\":\"p/m\",\"Stop\":\"done\",\"Text\":\"`+asked+`\",\"Tokens\":3,\"TokensLeft\":4},true]}"]`)
}
