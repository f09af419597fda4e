package plugin

import (
	"errors"
	"sync"
	"time"
)

const (
	// pieceBytes is the most that one message of output carries.
	pieceBytes = 64 * 1024
	// gatherBytes and gatherTime: small writes are joined until there is so much, or so long has passed since the last
	// message. What comes after a pause goes at once.
	gatherBytes = 16 * 1024
	gatherTime  = 20 * time.Millisecond
)

var errOver = errors.New("nobody waits for the output of this call any more")

// newsWriter says what a call has to say, in the messages of one major. Each waits while the host is slower.
type newsWriter interface {
	sendProgress(line string) error
	sendOutput(data []byte) error
	sendResult(parts Parts, failure *Error) error
}

// news is what a call says, in order. Nothing is said after its end.
type news struct {
	to     newsWriter
	mu     sync.Mutex
	buffer []byte
	sentAt time.Time
	timer  *time.Timer
	over   bool
}

// Write makes it the output of a call.
func (n *news) Write(data []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	written := 0
	for written < len(data) {
		if n.over {
			return written, errOver
		}
		room := min(pieceBytes-len(n.buffer), len(data)-written)
		n.buffer = append(n.buffer, data[written:written+room]...)
		written += room
		if len(n.buffer) == pieceBytes {
			if err := n.flush(); err != nil {
				return written, err
			}
		}
	}
	wait := gatherTime - time.Since(n.sentAt)
	if len(n.buffer) >= gatherBytes || wait <= 0 {
		return written, n.flush()
	}
	if n.timer == nil {
		n.timer = time.AfterFunc(wait, n.flushLate)
	}
	return written, nil
}

func (n *news) flushLate() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.timer = nil
	// A failure shows at the next write.
	_ = n.flush()
}

// flush sends what was gathered. The lock is held.
func (n *news) flush() error {
	if n.over || len(n.buffer) == 0 {
		return nil
	}
	err := n.to.sendOutput(n.buffer)
	n.buffer = n.buffer[:0]
	n.sentAt = time.Now()
	if err != nil {
		n.over = true
		return errors.Join(errOver, err)
	}
	return nil
}

func (n *news) progress(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.flush() != nil || n.over {
		return
	}
	if n.to.sendProgress(readable(line)) != nil {
		n.over = true
	}
}

func (n *news) result(parts Parts, failure *Error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.flush(); err != nil {
		return err
	}
	n.over = true
	return n.to.sendResult(parts, failure)
}

// end lets go of what is left; goroutines that the tool left behind write into nothing.
func (n *news) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	if n.timer != nil {
		n.timer.Stop()
	}
}
