package plugin

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// maxAnswerBytes is what a message may hold, less the few bytes around an answer.
const maxAnswerBytes = maxMessageBytes - 64

// Event is a moment of a conversation, as a hook gets to see it.
type Event struct {
	Conversation
	// At is the point, by its canonical name, e.g. "tool.before".
	At    string
	value *structpb.Struct
}

// Value is what the point is about; docs/hooks.md has the fields of each.
func (e *Event) Value() map[string]any { return e.value.AsMap() }

// Decode reads the value into what into points to.
func (e *Event) Decode(into any) error { return decode(e.value, into) }

// Verdict is what a hook says: made by [Pass], [Modify], [Block], [Answer] or [Skip]. The zero value passes.
type Verdict struct {
	answer *pluginv1.HookAnswer
	err    error
}

// Pass goes on.
func Pass() Verdict {
	return Verdict{answer: &pluginv1.HookAnswer{Verdict: &pluginv1.HookAnswer_Pass{Pass: true}}}
}

// Modify goes on with this value, the whole of it, in place of the event's: a struct or a map.
func Modify(value any) Verdict {
	fields, err := structOf(value)
	return Verdict{answer: &pluginv1.HookAnswer{Verdict: &pluginv1.HookAnswer_Modify{Modify: fields}}, err: err}
}

// Block says that it is not to happen, and why.
func Block(because string) Verdict {
	return Verdict{answer: &pluginv1.HookAnswer{Verdict: &pluginv1.HookAnswer_Block{Block: readable(because)}}}
}

// Answer answers in the tool's place, with anything that JSON can hold.
func Answer(value any) Verdict {
	encoded, err := valueOf(value)
	return Verdict{answer: &pluginv1.HookAnswer{Verdict: &pluginv1.HookAnswer_Answer{Answer: encoded}}, err: err}
}

// Skip passes over the hooks after this one.
func Skip() Verdict {
	return Verdict{answer: &pluginv1.HookAnswer{Verdict: &pluginv1.HookAnswer_Skip{Skip: true}}}
}

// HookDeclaration is a listener as it is declared.
type HookDeclaration struct {
	at        string
	priority  uint32
	timeLimit time.Duration
	onError   string
	tools     []string
	run       func(ctx context.Context, event *Event) (Verdict, error)
}

// Hook declares a listener at one point, by its canonical name. Events come side by side. An error counts as the hook's failure;
// what follows from it was declared, too.
func (p *Plugin) Hook(at string, run func(ctx context.Context, event *Event) (Verdict, error)) *HookDeclaration {
	declared := &HookDeclaration{at: at, run: run}
	p.hooks = append(p.hooks, declared)
	return declared
}

// Priority says which comes first: lower ones; 500 where nothing is said.
func (h *HookDeclaration) Priority(priority uint32) *HookDeclaration {
	h.priority = priority
	return h
}

// TimeLimit says how long one event may take; five seconds where nothing is said, at most two minutes.
func (h *HookDeclaration) TimeLimit(limit time.Duration) *HookDeclaration {
	h.timeLimit = limit
	return h
}

// OnError says what counts when it fails or is late: "allow", "deny" or "ask".
func (h *HookDeclaration) OnError(verdict string) *HookDeclaration {
	h.onError = verdict
	return h
}

// Tools says, at the points of tools, of which tools it wants to hear, by their names in clawd ("shell", "write").
func (h *HookDeclaration) Tools(names ...string) *HookDeclaration {
	h.tools = names
	return h
}

type hookServer struct {
	pluginv1.UnimplementedHookServiceServer
	life *life
}

func (s *hookServer) RunHook(ctx context.Context, said *pluginv1.RunHookRequest) (*pluginv1.RunHookResponse, error) {
	return &pluginv1.RunHookResponse{Answer: s.life.answer(ctx, said.Event)}, nil
}

// StreamHooks answers in the order in which answers are ready. It ends when the host ends the stream, or says to end and nothing is
// at work any more.
func (s *hookServer) StreamHooks(stream grpc.BidiStreamingServer[pluginv1.StreamHooksRequest, pluginv1.StreamHooksResponse]) error {
	events := &eventStream{life: s.life, stream: stream, atWork: map[uint32]context.CancelFunc{}}
	heard := make(chan error, 1)
	go func() { heard <- events.hear() }()
	var err error
	select {
	case err = <-heard:
	case <-s.life.ending:
	}
	// Who waits no more cancels the stream, and with it every event.
	events.running.Wait()
	return err
}

type eventStream struct {
	life    *life
	stream  grpc.BidiStreamingServer[pluginv1.StreamHooksRequest, pluginv1.StreamHooksResponse]
	running sync.WaitGroup
	mu      sync.Mutex
	atWork  map[uint32]context.CancelFunc
}

func (e *eventStream) hear() error {
	for {
		said, err := e.stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch kind := said.Kind.(type) {
		case *pluginv1.StreamHooksRequest_Cancelled:
			e.forget(kind.Cancelled)
		case *pluginv1.StreamHooksRequest_Event:
			e.begin(kind.Event)
		}
	}
}

func (e *eventStream) begin(event *pluginv1.HookEvent) {
	ctx, cancel := context.WithCancel(e.stream.Context())
	e.mu.Lock()
	e.atWork[event.Id] = cancel
	e.mu.Unlock()
	e.running.Add(1)
	go func() {
		defer e.running.Done()
		answer := e.life.answer(ctx, event)
		e.mu.Lock()
		defer e.mu.Unlock()
		// Nobody waits for the answer to a cancelled event.
		if ctx.Err() != nil {
			return
		}
		delete(e.atWork, event.Id)
		cancel()
		// A stream that broke is told to hear, too.
		_ = e.stream.Send(&pluginv1.StreamHooksResponse{Id: event.Id, Answer: answer})
	}()
}

func (e *eventStream) forget(id uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if cancel, ok := e.atWork[id]; ok {
		cancel()
		delete(e.atWork, id)
	}
}

// answer never fails: what a hook returns as an error is its answer.
func (l *life) answer(ctx context.Context, event *pluginv1.HookEvent) *pluginv1.HookAnswer {
	declared := l.plugin.hookOf(event)
	if declared == nil {
		return failedHook(fmt.Errorf("there is no hook at %s here", event.GetAt()))
	}
	done, err := l.work.begin()
	if err != nil {
		return failedHook(err)
	}
	defer done()
	var verdict Verdict
	err = safely("the hook at "+declared.at, func() (err error) {
		verdict, err = declared.run(ctx, &Event{Conversation: l.conversation(event), At: event.At, value: event.Value})
		return err
	})
	if err == nil {
		err = verdict.err
	}
	// One answer that cannot be sent would end the stream, with every event on it.
	if size := proto.Size(verdict.answer); err == nil && size > maxAnswerBytes {
		err = fmt.Errorf("the hook answered %d bytes; a message has at most 4 MiB", size)
	}
	if err != nil {
		if ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "error: hook at %s: %v\n", declared.at, err)
		}
		return failedHook(err)
	}
	if verdict.answer == nil {
		return Pass().answer
	}
	return verdict.answer
}

// hookOf is the one at the same place of plugin.json; otherwise, where places differ, the first at the same point.
func (p *Plugin) hookOf(event *pluginv1.HookEvent) *HookDeclaration {
	if place := int(event.GetHook()); place < len(p.hooks) && p.hooks[place].at == event.GetAt() {
		return p.hooks[place]
	}
	for _, declared := range p.hooks {
		if declared.at == event.GetAt() {
			return declared
		}
	}
	return nil
}

func failedHook(err error) *pluginv1.HookAnswer {
	return &pluginv1.HookAnswer{Verdict: &pluginv1.HookAnswer_Failure{Failure: wordsOf(err)}}
}
