package plugin

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	pluginv1 "clawd.dev/plugin/gen/clawd/plugin/v1"
)

// Log writes a line to the plugin's log (`claw plugin logs NAME`). Needs no permission.
func (h *Host) Log(ctx context.Context, level slog.Level, message string) error {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	_, err := h.life.client.Log(ctx, &pluginv1.LogRequest{Level: levelOf(level), Message: readable(message)})
	return refusalOf(err)
}

// Logger writes to the plugin's log with levels and attributes. A line that the host does not take goes to standard error.
func (h *Host) Logger() *slog.Logger {
	line := &logLine{}
	attributes := slog.NewTextHandler(&line.text, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: leaveOutRest})
	return slog.New(&logHandler{host: h, line: line, attributes: attributes})
}

func levelOf(level slog.Level) pluginv1.LogLevel {
	switch {
	case level < slog.LevelInfo:
		return pluginv1.LogLevel_LOG_LEVEL_DEBUG
	case level < slog.LevelWarn:
		return pluginv1.LogLevel_LOG_LEVEL_INFO
	case level < slog.LevelError:
		return pluginv1.LogLevel_LOG_LEVEL_WARNING
	default:
		return pluginv1.LogLevel_LOG_LEVEL_ERROR
	}
}

// leaveOutRest keeps the attributes: the host knows the time, the level and the message.
func leaveOutRest(groups []string, attribute slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return attribute
	}
	switch attribute.Key {
	case slog.TimeKey, slog.LevelKey, slog.MessageKey:
		return slog.Attr{}
	}
	return attribute
}

// logLine is where the attributes of one record are written at a time.
type logLine struct {
	mu   sync.Mutex
	text bytes.Buffer
}

type logHandler struct {
	host       *Host
	line       *logLine
	attributes slog.Handler
}

// Enabled is true: the host judges levels.
func (h *logHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	text, err := h.write(ctx, record)
	if err != nil {
		return err
	}
	// A line about what was cancelled is a line all the same.
	if err := h.host.Log(context.WithoutCancel(ctx), record.Level, text); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", record.Level, text)
	}
	return nil
}

func (h *logHandler) write(ctx context.Context, record slog.Record) (string, error) {
	h.line.mu.Lock()
	defer h.line.mu.Unlock()
	h.line.text.Reset()
	if err := h.attributes.Handle(ctx, record); err != nil {
		return "", err
	}
	return strings.TrimSpace(record.Message + " " + h.line.text.String()), nil
}

func (h *logHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return &logHandler{host: h.host, line: h.line, attributes: h.attributes.WithAttrs(attributes)}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{host: h.host, line: h.line, attributes: h.attributes.WithGroup(name)}
}
