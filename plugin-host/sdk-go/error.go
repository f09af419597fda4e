package plugin

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Code says of what kind a failure is.
type Code string

// The codes that there are. An error without one counts as [Invalid].
const (
	Invalid     Code = "invalid"
	NotFound    Code = "not_found"
	Conflict    Code = "conflict"
	Denied      Code = "denied"
	TimedOut    Code = "timed_out"
	Exhausted   Code = "exhausted"
	Unavailable Code = "unavailable"
)

// Error is a failure with a kind and the next move. The host's refusals come as one, too.
type Error struct {
	Code Code
	// Message says what happened, to what.
	Message string
	// Hint is the next move; may be empty.
	Hint string
	// Category says the same in finer words, for programs, e.g. "rate_limited"; may be empty.
	Category string
	// Retryable says that the same call may well succeed later.
	Retryable bool
	// Cause is what [errors.Is] and [errors.As] look into; it is told to nobody.
	Cause error
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an [Error]; %w keeps a cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// WithHint gives the same error with the next move.
func (e *Error) WithHint(hint string) *Error {
	hinted := *e
	hinted.Hint = hint
	return &hinted
}

// failureOf gives any error a kind. The words of what wraps an Error are kept.
func failureOf(err error) *Error {
	var known *Error
	if !errors.As(err, &known) {
		return &Error{Code: Invalid, Message: wordsOf(err)}
	}
	told := *known
	told.Message, told.Hint, told.Category = wordsOf(err), readable(known.Hint), readable(known.Category)
	return &told
}

func wordsOf(err error) string {
	if words := readable(err.Error()); words != "" {
		return words
	}
	return "it failed without a word"
}

// told makes an error one that the host tells in the author's words, by a code that no breaking process gives.
func told(err error) error {
	return status.Error(codes.Aborted, wordsOf(err))
}

// refusalOf translates what the host said of a call to it.
func refusalOf(err error) error {
	if err == nil {
		return nil
	}
	said := status.Convert(err)
	kinds := map[codes.Code]Code{
		codes.InvalidArgument:    Invalid,
		codes.FailedPrecondition: Invalid,
		codes.NotFound:           NotFound,
		codes.AlreadyExists:      Conflict,
		codes.Aborted:            Conflict,
		codes.PermissionDenied:   Denied,
		codes.DeadlineExceeded:   TimedOut,
		codes.ResourceExhausted:  Exhausted,
	}
	kind, known := kinds[said.Code()]
	if !known {
		kind = Unavailable
	}
	return &Error{Code: kind, Message: said.Message(), Cause: err}
}

// readable makes any text one that a message can hold: bytes that are no UTF-8 are marked.
func readable(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
