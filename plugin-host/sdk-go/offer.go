package plugin

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// Tools is where [Tool] declares one: a [Plugin], or an [Offer].
type Tools interface {
	addTool(*ToolDeclaration)
}

// Offer is what a plugin offers while it runs, beside what it declares: [Tool] and [Offer.SlashCommand] fill it, [Host.Offer]
// makes it known. It is not to be changed after that.
type Offer struct {
	tools    []*ToolDeclaration
	commands []*CommandDeclaration
}

func (o *Offer) addTool(declared *ToolDeclaration) { o.tools = append(o.tools, declared) }

// SlashCommand adds what a message that begins with /NAME is.
func (o *Offer) SlashCommand(
	name, description string,
	run func(ctx context.Context, command *Command) (Outcome, error),
) *CommandDeclaration {
	declared := &CommandDeclaration{name: name, description: description, run: run}
	o.commands = append(o.commands, declared)
	return declared
}

// Offered is what became of an offer.
type Offered struct {
	// Names are those by which models know the tools, in their order; empty for one that cannot be offered.
	Names []string
	// Problems say why some cannot.
	Problems []string
}

// Offer says which tools and slash commands there are now beside those of plugin.json, which must say "dynamic": true; what was
// offered before and is missing here is gone. The host knows them, too, while the plugin does not run: offer them again in the
// function given to [Settings], which comes before any call.
func (h *Host) Offer(ctx context.Context, offer *Offer) (Offered, error) {
	request := &pluginv1.OfferRequest{}
	for _, tool := range offer.tools {
		declared, err := tool.wire()
		if err != nil {
			return Offered{}, err
		}
		request.Tools = append(request.Tools, declared)
	}
	for _, command := range offer.commands {
		request.SlashCommands = append(request.SlashCommands, command.wire())
	}
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	var said *pluginv1.OfferResponse
	err := h.life.offers.replace(offer, func() (err error) {
		said, err = h.life.client.Offer(ctx, request, grpc.ForceCodec(inOrder{}))
		return refusalOf(err)
	})
	return Offered{Names: said.GetNames(), Problems: said.GetProblems()}, err
}

// inOrder writes the same message as the same bytes: a schema whose keys came in another order would be taken for another one, and a
// person asked about it.
type inOrder struct{}

func (inOrder) Marshal(value any) ([]byte, error) {
	message, ok := value.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("a %T is no message", value)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(message)
}

func (inOrder) Unmarshal(data []byte, value any) error {
	message, ok := value.(proto.Message)
	if !ok {
		return fmt.Errorf("a %T is no message", value)
	}
	return proto.Unmarshal(data, message)
}

func (inOrder) Name() string { return "proto" }

func (t *ToolDeclaration) wire() (*pluginv1.ToolDeclaration, error) {
	input, err := structOf(t.input)
	if err != nil {
		return nil, fmt.Errorf("the schema of the tool %s: %w", t.name, err)
	}
	return &pluginv1.ToolDeclaration{
		Name:        readable(t.name),
		Description: readable(t.description),
		InputSchema: input,
		RerunSafe:   t.rerunSafe,
		TimeoutMs:   uint32(t.timeLimit.Milliseconds()),
	}, nil
}

func (c *CommandDeclaration) wire() *pluginv1.SlashCommandDeclaration {
	declared := &pluginv1.SlashCommandDeclaration{Name: readable(c.name), Description: readable(c.description)}
	for _, one := range c.arguments {
		argument := &pluginv1.SlashCommandArgument{Name: one.Name, Description: readable(one.Description), Required: one.Required}
		declared.Arguments = append(declared.Arguments, argument)
	}
	return declared
}

// liveOffers is what was offered in this life, by its names.
type liveOffers struct {
	// turn lets one offer after the other go to the host.
	turn sync.Mutex
	mu   sync.RWMutex
	// taken is what the host took last, served is that and what it is being told.
	taken, served offeredNames
}

type offeredNames struct {
	tools    map[string]*ToolDeclaration
	commands map[string]*CommandDeclaration
}

func (l *liveOffers) tool(name string) *ToolDeclaration {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.served.tools[name]
}

func (l *liveOffers) command(name string) *CommandDeclaration {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.served.commands[name]
}

// replace tells the host of an offer. When that fails, those before and these are served, so that none is missing whatever
// the host has heard.
func (l *liveOffers) replace(offer *Offer, tell func() error) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	now := offeredNames{tools: map[string]*ToolDeclaration{}, commands: map[string]*CommandDeclaration{}}
	for _, tool := range offer.tools {
		now.tools[tool.name] = tool
	}
	for _, command := range offer.commands {
		now.commands[command.name] = command
	}
	// The host may call a new one before its answer is here, and an old one until then.
	both := offeredNames{tools: maps.Clone(now.tools), commands: maps.Clone(now.commands)}
	for name, tool := range l.taken.tools {
		if both.tools[name] == nil {
			both.tools[name] = tool
		}
	}
	for name, command := range l.taken.commands {
		if both.commands[name] == nil {
			both.commands[name] = command
		}
	}
	l.serve(both)
	if err := tell(); err != nil {
		return err
	}
	l.taken = now
	l.serve(now)
	return nil
}

func (l *liveOffers) serve(names offeredNames) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.served = names
}
