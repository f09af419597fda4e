package plugin

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
	pluginv2 "clawd.dev/plugin/gen/clawd/plugin/v2"
)

const (
	// maxMessageBytes holds either way, for one message.
	maxMessageBytes = 4 * 1024 * 1024
	// pingLeast: the host asks by HTTP/2 whether the process is there, more often than gRPC allows unless told so.
	pingLeast = time.Second
	// tidyTime and stopTime are how long everything may take after the host is gone, and after it has said to end.
	tidyTime = 500 * time.Millisecond
	stopTime = 2 * time.Second
)

// life is one life of a plugin: what everything that it serves is run with.
type life struct {
	plugin *Plugin
	client pluginv1.HostServiceClient
	work   work
	// ending is closed when the host has said to end: what stands open for its own sake is closed.
	ending chan struct{}
	// stopped is closed when the server has sent its last answer.
	stopped chan struct{}
	stop    func()
	mu      sync.RWMutex
	facts   facts
	offers  liveOffers
}

// serve lives one life: from the Boot line to the end of the input, or to Shutdown.
func (p *Plugin) serve(ctx context.Context, stdin io.Reader, hello io.WriteCloser) error {
	input := bufio.NewReader(stdin)
	boot, err := readBoot(input)
	if err != nil {
		return err
	}
	major, err := chooseMajor(boot)
	if err != nil {
		return errors.Join(err, sayHello(hello, &pluginv1.Hello{Error: err.Error()}))
	}
	listener, err := net.Listen("unix", boot.Listen)
	if err != nil {
		return errors.Join(err, sayHello(hello, &pluginv1.Hello{Error: fmt.Sprintf("its socket cannot be opened: %v", err)}))
	}
	connection, err := dialHost(boot.Host, boot.OutboundToken)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer connection.Close()
	server := newServer(boot.InboundToken)
	l := &life{plugin: p, client: pluginv1.NewHostServiceClient(connection), ending: make(chan struct{}), stopped: make(chan struct{})}
	l.stop = sync.OnceFunc(func() {
		l.work.refuseMore()
		close(l.ending)
		// The answers under way, that of Shutdown included, are still sent.
		go func() {
			server.GracefulStop()
			close(l.stopped)
		}()
	})
	l.register(server, major)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if err := sayHello(hello, &pluginv1.Hello{ProtocolMajor: major, Wire: pluginv1.Wire_WIRE_GRPC}); err != nil {
		server.Stop()
		return err
	}
	return l.untilEnd(ctx, server, served, endOf(input))
}

// untilEnd waits for whichever end comes first. The end of the input means that the host is gone.
func (l *life) untilEnd(ctx context.Context, server *grpc.Server, served <-chan error, gone <-chan struct{}) error {
	limit := stopTime
	var failed error
	select {
	case <-l.stopped:
	case <-gone:
		limit = tidyTime
	case <-ctx.Done():
	case failed = <-served:
		if l.isEnding() {
			// GracefulStop has closed the listener; its calls may still be under way.
			failed = nil
			select {
			case <-l.stopped:
			case <-gone:
				limit = tidyTime
			}
		}
	}
	tidy, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	// Ends every call that is still there.
	server.Stop()
	l.work.wait(tidy)
	l.runStop(tidy)
	return failed
}

func (l *life) isEnding() bool {
	select {
	case <-l.ending:
		return true
	default:
		return false
	}
}

func (l *life) runStop(ctx context.Context) {
	if l.plugin.stop == nil {
		return
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = safely("OnStop", func() error {
			l.plugin.stop(ctx)
			return nil
		})
	}()
	select {
	case <-over:
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "warning: OnStop took too long")
	}
}

// endOf is closed when the input has ended.
func endOf(input io.Reader) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, input)
	}()
	return gone
}

func newServer(token string) *grpc.Server {
	return grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxSendMsgSize(maxMessageBytes),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingLeast, PermitWithoutStream: true}),
		// Before anything of a message is read.
		grpc.InTapHandle(guard(token)),
	)
}

// guard turns away whoever does not show the token. What is compared are digests, so that neither length nor content leaks in time.
func guard(token string) tap.ServerInHandle {
	expected := sha256.Sum256([]byte("Bearer " + token))
	return func(ctx context.Context, info *tap.Info) (context.Context, error) {
		shown := ""
		if values := info.Header.Get("authorization"); len(values) > 0 {
			shown = values[0]
		}
		digest := sha256.Sum256([]byte(shown))
		if subtle.ConstantTimeCompare(digest[:], expected[:]) != 1 {
			return nil, status.Error(codes.Unauthenticated, "the token of this call is missing or wrong")
		}
		return ctx, nil
	}
}

// register serves what the plugin has; all else is answered by "unimplemented".
func (l *life) register(server *grpc.Server, major uint32) {
	if major == 2 {
		pluginv2.RegisterPluginServiceServer(server, &major2{life: l})
	} else {
		pluginv1.RegisterPluginServiceServer(server, &major1{life: l})
	}
	if len(l.plugin.hooks) > 0 {
		pluginv1.RegisterHookServiceServer(server, &hookServer{life: l})
	}
	if len(l.plugin.models) > 0 {
		pluginv1.RegisterModelServiceServer(server, &modelServer{life: l})
	}
	if len(l.plugin.embedders) > 0 {
		pluginv1.RegisterEmbedServiceServer(server, &embedServer{life: l})
	}
	if len(l.plugin.sources) > 0 {
		pluginv1.RegisterMemorySourceServiceServer(server, &sourceServer{life: l})
	}
	// Always: commands may be offered later.
	pluginv1.RegisterSlashCommandServiceServer(server, &commandServer{life: l})
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
}
