// Package search finds lines in the files of a folder. It knows nothing of clawd.
package search

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strings"
)

// Query says what is looked for, and where.
type Query struct {
	Pattern    string `json:"pattern" description:"A regular expression in the syntax of RE2, e.g. func \\w+Handler" minLength:"1" maxLength:"1000"`
	Path       string `json:"path" description:"The folder to search, relative to the workspace" default:"."`
	Glob       string `json:"glob,omitempty" description:"Only files whose path fits, e.g. *.go or src/**/*.ts"`
	IgnoreCase bool   `json:"ignoreCase" description:"Takes capital and small letters as the same" default:"false"`
	Context    int    `json:"context" description:"Lines shown before and after each hit" default:"0" minimum:"0" maximum:"10"`
	Limit      int    `json:"limit" description:"The most hits" default:"200" minimum:"1" maximum:"2000"`
}

// Found says what came of a search.
type Found struct {
	Hits, FilesHit, FilesSearched int
	// Cut is true when there may be more hits than the limit.
	Cut bool
}

func (f Found) String() string {
	text := fmt.Sprintf("%d hits in %d of %d files", f.Hits, f.FilesHit, f.FilesSearched)
	if f.Cut {
		text += "; there may be more: narrow it down by path or glob, or raise the limit"
	}
	return text
}

// matcher is a query made ready.
type matcher struct {
	expression *regexp.Regexp
	// literal is in every hit, so that most files are passed over without running the expression; may be empty.
	literal []byte
	glob    *regexp.Regexp
	root    string
	context int
	limit   int
	workers int
}

func (q Query) ready() (*matcher, error) {
	flags := "(?m)"
	if q.IgnoreCase {
		flags = "(?mi)"
	}
	expression, err := regexp.Compile(flags + "(?:" + q.Pattern + ")")
	if err != nil {
		return nil, fmt.Errorf("the pattern is no regular expression: %w", err)
	}
	root := path.Clean(q.Path)
	if !fs.ValidPath(root) {
		return nil, fmt.Errorf("%q does not lie in the workspace: give a relative path", q.Path)
	}
	ready := &matcher{expression: expression, root: root, context: q.Context, limit: q.Limit, workers: runtime.GOMAXPROCS(0)}
	if parsed, err := syntax.Parse(expression.String(), syntax.Perl); err == nil {
		ready.literal = []byte(longestLiteral(parsed.Simplify()))
	}
	if q.Glob != "" {
		if ready.glob, err = globExpression(strings.TrimPrefix(q.Glob, "./")); err != nil {
			return nil, fmt.Errorf("the glob %q cannot be read: %w", q.Glob, err)
		}
	}
	return ready, nil
}

// longestLiteral is a text that each hit of an expression must contain.
func longestLiteral(of *syntax.Regexp) string {
	switch of.Op {
	case syntax.OpLiteral:
		if of.Flags&syntax.FoldCase == 0 {
			return string(of.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return longestLiteral(of.Sub[0])
	case syntax.OpConcat:
		longest := ""
		for _, part := range of.Sub {
			if literal := longestLiteral(part); len(literal) > len(longest) {
				longest = literal
			}
		}
		return longest
	}
	return ""
}

// IsClosed is true of an error that says that the folder itself cannot be looked into.
func IsClosed(err error) bool {
	var closed *closedError
	return errors.As(err, &closed)
}

type closedError struct{ cause error }

func (e *closedError) Error() string { return e.cause.Error() }
func (e *closedError) Unwrap() error { return e.cause }
