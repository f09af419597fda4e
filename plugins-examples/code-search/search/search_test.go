package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func search(t *testing.T, root string, query Query) (string, Found) {
	t.Helper()
	if query.Path == "" {
		query.Path = "."
	}
	if query.Limit == 0 {
		query.Limit = 200
	}
	var out bytes.Buffer
	found, err := Run(t.Context(), root, query, &out, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), found
}

func TestHitsComeInTheOrderOfPathsWithTheirLines(t *testing.T) {
	files := map[string]string{}
	want := ""
	for i := range 200 {
		name := fmt.Sprintf("d%d/f%03d.go", i/100, i)
		files[name] = "package a\n\nfunc Żółć() {} // two: func b\n"
		want += name + ":3:func Żółć() {} // two: func b\n"
	}
	files["d0/other.txt"] = "nothing"
	out, found := search(t, folderOf(t, files), Query{Pattern: `func \S+`})
	if out != want {
		t.Errorf("got %.300s", out)
	}
	if found != (Found{Hits: 200, FilesHit: 200, FilesSearched: 200, Cut: true}) && found.FilesSearched != 201 {
		t.Error(found)
	}
}

func TestLinesAroundHitsAreShownOnce(t *testing.T) {
	root := folderOf(t, map[string]string{"a": "1\nx 2\n3\nx 4\n5\n6\n7\nx 8"})
	out, _ := search(t, root, Query{Pattern: "^x", Context: 1})
	if want := "a-1-1\na:2:x 2\na-3-3\na:4:x 4\na-5-5\n--\na-7-7\na:8:x 8\n"; out != want {
		t.Errorf("got\n%s", out)
	}
}

func TestWhatGitIgnoresIsIgnored(t *testing.T) {
	root := folderOf(t, map[string]string{
		".gitignore":          "# built\n*.log\n/out/\nbuild/\n!keep.log\ndocs/*.tmp\n**/cache/**\n[ab].txt\n\\#odd\n",
		"sub/.gitignore":      "local\n!*.log\n",
		"a.log":               "hit",
		"keep.log":            "hit",
		"out/x":               "hit",
		"deep/out/x":          "hit",
		"deep/build/x":        "hit",
		"docs/a.tmp":          "hit",
		"docs/deep/a.tmp":     "hit",
		"x/cache/y":           "hit",
		"a.txt":               "hit",
		"c.txt":               "hit",
		"#odd":                "hit",
		"sub/local":           "hit",
		"sub/b.log":           "hit",
		".git/config":         "hit",
		"node.bin":            "hit\x00",
		"sub/more/local/file": "hit",
	})
	out, _ := search(t, root, Query{Pattern: "hit"})
	want := "c.txt:1:hit\ndeep/out/x:1:hit\ndocs/deep/a.tmp:1:hit\nkeep.log:1:hit\nsub/b.log:1:hit\n"
	if out != want {
		t.Errorf("got\n%s", out)
	}
	// Rules of the folders above hold, too, where the search begins below them.
	if out, _ := search(t, root, Query{Pattern: "hit", Path: "deep"}); out != "deep/out/x:1:hit\n" {
		t.Errorf("below: got\n%s", out)
	}
}

func TestGlobsCaseAndLimits(t *testing.T) {
	root := folderOf(t, map[string]string{
		"a.go": "Word\nword\nWORD\n", "src/b.ts": "word\n", "src/deep/c.ts": "word " + strings.Repeat("ż", 400) + "\n",
	})
	for want, query := range map[string]Query{
		"a.go:2:word\n": {Pattern: "word", Glob: "*.go"},
		"a.go:1:Word\na.go:2:word\na.go:3:WORD\n": {Pattern: "word", Glob: "*.go", IgnoreCase: true},
		"src/b.ts:1:word\n":                       {Pattern: "^word$", Glob: "src/**/*.ts"},
		"a.go:1:Word\na.go:2:word\n":              {Pattern: "[Ww]ord", Limit: 2},
	} {
		if out, _ := search(t, root, query); out != want {
			t.Errorf("%+v gave\n%s", query, out)
		}
	}
	out, _ := search(t, root, Query{Pattern: "word ż"})
	if !strings.HasSuffix(out, "ż …\n") || len(out) > maxLineBytes+30 {
		t.Errorf("a long line came as %q", out)
	}
}

func TestTheLiteralOfAnExpressionIsInEveryHit(t *testing.T) {
	for pattern, want := range map[string]string{
		"fn (New|Old)Thing": "Thing", "a|b": "", "(abc)+d": "abc", "x*": "", "(?i)word": "", `\bfetch\(`: "fetch(",
	} {
		ready, err := Query{Pattern: pattern, Path: "."}.ready()
		if err != nil {
			t.Fatal(err)
		}
		if string(ready.literal) != want {
			t.Errorf("%s: got %q, want %q", pattern, ready.literal, want)
		}
	}
}

func TestNothingOutsideIsOpened(t *testing.T) {
	outside := folderOf(t, map[string]string{"secret": "hit"})
	root := folderOf(t, map[string]string{"in": "hit"})
	for _, name := range []string{"link", "folder"} {
		if err := os.Symlink(map[string]string{"link": outside + "/secret", "folder": outside}[name], filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if out, _ := search(t, root, Query{Pattern: "hit"}); out != "in:1:hit\n" {
		t.Errorf("got\n%s", out)
	}
	for _, path := range []string{"..", "/etc", "folder", "nowhere", "in"} {
		if _, err := Run(t.Context(), root, Query{Pattern: "hit", Path: path, Limit: 1}, &bytes.Buffer{}, nil); err == nil {
			t.Errorf("%q was searched", path)
		}
	}
	if _, err := Run(t.Context(), filepath.Join(root, "gone"), Query{Pattern: "x", Path: "."}, nil, nil); !IsClosed(err) {
		t.Error("a folder that is not there gave", err)
	}
	if _, err := Run(t.Context(), root, Query{Pattern: "(", Path: "."}, nil, nil); err == nil || IsClosed(err) {
		t.Error("a wrong pattern gave", err)
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestItEndsWithItsContextAndWithItsReader(t *testing.T) {
	files := map[string]string{}
	for i := range 2 * progressFiles {
		files[fmt.Sprintf("f%d", i)] = "hit\n"
	}
	root := folderOf(t, files)
	ctx, cancel := context.WithCancel(t.Context())
	query := Query{Pattern: "hit", Path: ".", Limit: 1 << 20}
	found, err := Run(ctx, root, query, &bytes.Buffer{}, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) || found.FilesSearched > progressFiles {
		t.Error("cancelled: ", found, err)
	}
	if _, err := Run(t.Context(), root, query, full{}, func(int) {}); !errors.Is(err, errFull) {
		t.Error("nobody read, and it ended with", err)
	}
}
