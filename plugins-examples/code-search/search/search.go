package search

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

const (
	// maxFileBytes: what is larger is data, not code.
	maxFileBytes = 4 * 1024 * 1024
	// maxLineBytes is the most of a line that is shown.
	maxLineBytes = 500
	// binaryBytes are looked at to tell whether a file is text.
	binaryBytes = 8000
	// progressFiles is after how many files progress is told.
	progressFiles = 500
	// maxDepth of folders.
	maxDepth = 64
)

// Run searches a folder and writes hits in the order of paths. Several files are read at once. It ends early with the context, with the
// limit, and when out takes no more. Links are not followed, and nothing outside the folder is opened.
func Run(ctx context.Context, folder string, query Query, out io.Writer, progress func(files int)) (Found, error) {
	ready, err := query.ready()
	if err != nil {
		return Found{}, err
	}
	opened, err := os.OpenRoot(folder)
	if err != nil {
		return Found{}, &closedError{err}
	}
	defer opened.Close()
	if info, err := opened.Stat(ready.root); err != nil || !info.IsDir() {
		return Found{}, fmt.Errorf("there is no folder %s in the workspace", ready.root)
	}
	ctx, cancel := context.WithCancel(ctx)
	run := &run{matcher: ready, files: opened, queue: make(chan *job, 4*ready.workers), slots: make(chan struct{}, ready.workers)}
	walked := make(chan struct{})
	go func() {
		defer close(walked)
		defer close(run.queue)
		run.walk(ctx, ready.root, run.rulesAbove(), 0)
	}()
	found, err := run.collect(ctx, out, progress)
	cancel()
	// Nothing reads the folder any more after this.
	for left := range run.queue {
		<-left.hits
	}
	<-walked
	return found, err
}

type run struct {
	*matcher
	files *os.Root
	// queue holds files in their order; the workers give to each its hits.
	queue chan *job
	slots chan struct{}
}

type job struct {
	name string
	hits chan []hit
}

type hit struct {
	// text is what is shown, lines around it included.
	text string
	hits int
}

// collect shows hits in the order of the queue.
func (r *run) collect(ctx context.Context, out io.Writer, progress func(files int)) (Found, error) {
	var found Found
	for next := range r.queue {
		hits := <-next.hits
		if err := ctx.Err(); err != nil {
			return found, err
		}
		found.FilesSearched++
		if found.FilesSearched%progressFiles == 0 {
			progress(found.FilesSearched)
		}
		if len(hits) > 0 {
			found.FilesHit++
		}
		for _, one := range hits {
			if _, err := io.WriteString(out, one.text); err != nil {
				return found, err
			}
			if found.Hits += one.hits; found.Hits >= r.limit {
				found.Cut = true
				return found, nil
			}
		}
	}
	return found, ctx.Err()
}

// rulesAbove are those of the folders between the workspace and where the search begins.
func (r *run) rulesAbove() []ignoreRule {
	var rules []ignoreRule
	if r.root == "." {
		return rules
	}
	folder := "."
	for part := range strings.SplitSeq(r.root, "/") {
		rules = rulesOf(rules, folder, r.files.ReadFile)
		folder = path.Join(folder, part)
	}
	return rules
}

func (r *run) walk(ctx context.Context, folder string, above []ignoreRule, depth int) {
	if depth > maxDepth || ctx.Err() != nil {
		return
	}
	entries, err := fs.ReadDir(r.files.FS(), folder)
	if err != nil {
		return
	}
	rules := rulesOf(above, folder, r.files.ReadFile)
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		switch {
		case entry.Name() == ".git" || isIgnored(rules, name, entry.IsDir()):
		case entry.IsDir():
			r.walk(ctx, name, rules, depth+1)
		case entry.Type().IsRegular() && (r.glob == nil || r.glob.MatchString(name)):
			r.begin(ctx, name)
		}
	}
}

// begin has a file searched; it waits while too many are under way.
func (r *run) begin(ctx context.Context, name string) {
	next := &job{name: name, hits: make(chan []hit, 1)}
	select {
	case r.queue <- next:
	case <-ctx.Done():
		return
	}
	r.slots <- struct{}{}
	go func() {
		defer func() { <-r.slots }()
		var hits []hit
		if ctx.Err() == nil {
			hits = r.searchFile(name)
		}
		next.hits <- hits
	}()
}

// searchFile gives the hits of one file; one that cannot be read has none.
func (r *run) searchFile(name string) []hit {
	file, err := r.files.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFileBytes {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if err != nil || bytes.IndexByte(text[:min(len(text), binaryBytes)], 0) >= 0 {
		return nil
	}
	if len(r.literal) > 0 && !bytes.Contains(text, r.literal) {
		return nil
	}
	return r.hitsIn(name, text)
}

// hitsIn shows each line that has a hit once, with the lines around it.
func (r *run) hitsIn(name string, text []byte) []hit {
	var wanted []int
	starts := lineStarts(text)
	line := 0
	for _, place := range r.expression.FindAllIndex(text, -1) {
		// Places come in order, so the search for their lines goes on where it was.
		for line+1 < len(starts) && starts[line+1] <= place[0] {
			line++
		}
		if place[0] < len(text) && (len(wanted) == 0 || wanted[len(wanted)-1] != line) {
			wanted = append(wanted, line)
		}
		if len(wanted) >= r.limit {
			break
		}
	}
	var hits []hit
	shown := -1
	for i, at := range wanted {
		var block strings.Builder
		first := max(at-r.context, shown+1)
		if r.context > 0 && shown >= 0 && first > shown+1 {
			block.WriteString("--\n")
		}
		last := min(at+r.context, len(starts)-1)
		if i+1 < len(wanted) {
			last = min(last, wanted[i+1]-1)
		}
		for number := first; number <= last; number++ {
			mark := "-"
			if number == at {
				mark = ":"
			}
			fmt.Fprintf(&block, "%s%s%d%s%s\n", name, mark, number+1, mark, lineOf(text, starts, number))
		}
		shown = last
		hits = append(hits, hit{text: block.String(), hits: 1})
	}
	return hits
}

func lineStarts(text []byte) []int {
	starts := []int{0}
	for at, char := range text {
		if char == '\n' && at+1 < len(text) {
			starts = append(starts, at+1)
		}
	}
	return starts
}

// lineOf is a line without its end, as much of it as is shown.
func lineOf(text []byte, starts []int, number int) string {
	end := len(text)
	if number+1 < len(starts) {
		end = starts[number+1]
	}
	line := bytes.TrimRight(text[starts[number]:end], "\r\n")
	if len(line) <= maxLineBytes {
		return string(line)
	}
	cut := maxLineBytes
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return string(line[:cut]) + " …"
}
