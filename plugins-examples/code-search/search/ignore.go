package search

import (
	"path"
	"regexp"
	"strings"
)

// ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	// base is the folder of the file, "." at the root.
	base        string
	expression  *regexp.Regexp
	foldersOnly bool
	negated     bool
}

// readIgnore reads a .gitignore that lies in base. Lines that are no pattern are passed over.
func readIgnore(base, text string) (rules []ignoreRule) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if trimmed := strings.TrimRight(line, " "); !strings.HasSuffix(trimmed, `\`) {
			line = trimmed
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rule := ignoreRule{base: base}
		line, rule.negated = strings.CutPrefix(line, "!")
		line, rule.foldersOnly = strings.CutSuffix(line, "/")
		expression, err := globExpression(line)
		if err != nil || line == "" {
			continue
		}
		rule.expression = expression
		rules = append(rules, rule)
	}
	return rules
}

// isIgnored judges a path by all rules of the folders above it; the last one that fits counts.
func isIgnored(rules []ignoreRule, name string, isFolder bool) bool {
	ignored := false
	for _, rule := range rules {
		if rule.foldersOnly && !isFolder {
			continue
		}
		relative := name
		if rule.base != "." {
			relative = strings.TrimPrefix(name, rule.base+"/")
		}
		if rule.expression.MatchString(relative) {
			ignored = !rule.negated
		}
	}
	return ignored
}

// globExpression makes a pattern of .gitignore a regular expression over paths. Without a slash before its end it fits at any depth.
func globExpression(glob string) (*regexp.Regexp, error) {
	rest, anchored := strings.CutPrefix(glob, "/")
	var made strings.Builder
	made.WriteString("^")
	if !anchored && !strings.Contains(rest, "/") {
		made.WriteString("(?:.*/)?")
	}
	for rest != "" {
		switch {
		case rest == "/**":
			made.WriteString("/.+")
			rest = ""
		case strings.HasPrefix(rest, "/**/"):
			made.WriteString("/(?:.*/)?")
			rest = rest[4:]
		case strings.HasPrefix(rest, "**/"):
			made.WriteString("(?:.*/)?")
			rest = rest[3:]
		case rest[0] == '*':
			made.WriteString("[^/]*")
			rest = strings.TrimLeft(rest, "*")
		case rest[0] == '?':
			made.WriteString("[^/]")
			rest = rest[1:]
		case rest[0] == '[' && strings.Contains(rest[1:], "]"):
			end := strings.Index(rest[1:], "]") + 2
			made.WriteString(strings.Replace(rest[:end], "[!", "[^", 1))
			rest = rest[end:]
		default:
			if rest[0] == '\\' && len(rest) > 1 {
				rest = rest[1:]
			}
			made.WriteString(regexp.QuoteMeta(rest[:1]))
			rest = rest[1:]
		}
	}
	made.WriteString("$")
	return regexp.Compile(made.String())
}

// rulesOf are those of the folders above, and of a folder's own .gitignore.
func rulesOf(above []ignoreRule, folder string, read func(name string) ([]byte, error)) []ignoreRule {
	text, err := read(path.Join(folder, ".gitignore"))
	if err != nil {
		return above
	}
	return append(above[:len(above):len(above)], readIgnore(folder, string(text))...)
}
