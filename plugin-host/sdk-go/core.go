package plugin

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// What every major of PluginService says in its own messages.

// initialize takes what the host says of itself and of the grant; a host may leave all of it out.
func (l *life) initialize(ctx context.Context, said *pluginv1.InitializeRequest) (*pluginv1.InitializeResponse, error) {
	// First: what takes the settings may ask what was granted.
	l.mu.Lock()
	l.facts = facts{
		hostVersion: said.GetHostVersion(),
		granted:     said.GetGranted(),
		config:      said.GetConfig(),
		dataFolder:  said.GetDataFolder(),
	}
	l.mu.Unlock()
	if _, err := l.plugin.settings.take(l.withHost(ctx), said.GetConfig()); err != nil {
		return nil, status.Error(codes.FailedPrecondition, wordsOf(err))
	}
	return &pluginv1.InitializeResponse{Version: l.plugin.version, Tools: l.declaredTools()}, nil
}

// configure takes new settings, or gives the problem with them; the old ones stay in force then.
func (l *life) configure(ctx context.Context, config *structpb.Struct) (problem string, restart bool) {
	restart, err := l.plugin.settings.take(l.withHost(ctx), config)
	if err != nil {
		return wordsOf(err), false
	}
	if !restart {
		l.mu.Lock()
		l.facts.config = config
		l.mu.Unlock()
	}
	return "", restart
}

func (l *life) declaredTools() []*pluginv1.ToolDeclaration {
	declared := make([]*pluginv1.ToolDeclaration, 0, len(l.plugin.toolNames))
	for _, name := range l.plugin.toolNames {
		declared = append(declared, &pluginv1.ToolDeclaration{Name: name})
	}
	return declared
}

// drain takes nothing new and waits for what runs.
func (l *life) drain(ctx context.Context, timeLimitMs uint32) {
	l.work.refuseMore()
	limited, cancel := context.WithTimeout(ctx, time.Duration(timeLimitMs)*time.Millisecond)
	defer cancel()
	l.work.wait(limited)
}

// facts are what the host said at the start; the settings change when a person changes them.
type facts struct {
	hostVersion string
	granted     []string
	config      *structpb.Struct
	dataFolder  string
}

func (l *life) know() facts {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.facts
}

// ErrRestart is what a function given to [Settings] returns when new settings come into force at the next start only;
// clawd then starts the plugin anew.
var ErrRestart = errors.New("the settings come into force at the next start")
