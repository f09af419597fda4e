package plugin

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// work counts what runs at this moment.
type work struct {
	mu       sync.Mutex
	running  int
	draining bool
	// idle is closed when nothing runs any more; made by whoever waits.
	idle chan struct{}
}

// begin counts one more, until done is called. It fails when the plugin takes nothing new.
func (w *work) begin() (done func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining {
		return nil, status.Error(codes.Unavailable, "the plugin is about to end and takes nothing new")
	}
	w.running++
	return sync.OnceFunc(w.end), nil
}

func (w *work) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if w.running == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// refuseMore lets nothing new begin from now on.
func (w *work) refuseMore() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = true
}

// wait returns when nothing runs, or ctx is done.
func (w *work) wait(ctx context.Context) {
	w.mu.Lock()
	if w.running == 0 {
		w.mu.Unlock()
		return
	}
	if w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// safely turns a panic of the author's code into an error: it fails what it came from and nothing else.
func safely(what string, run func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			fmt.Fprintf(os.Stderr, "%s panicked: %v\n%s", what, cause, debug.Stack())
			err = fmt.Errorf("%s panicked: %v", what, cause)
		}
	}()
	return run()
}
