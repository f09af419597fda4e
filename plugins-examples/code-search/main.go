// The plugin code-search: finds lines in the files of a workspace. README.md says how to try it.
package main

import (
	"context"
	"fmt"
	"io/fs"

	"clawd.dev/plugin"
	"code-search/search"
)

func main() { plugin.Main(newPlugin()) }

func newPlugin() *plugin.Plugin {
	p := plugin.New("code-search", "1.0.0")
	plugin.Tool(p, "grep", "Finds lines in the files of the workspace by a regular expression (RE2). Ignores what "+
		".gitignore does, and binary files. Lines come as PATH:LINE:TEXT, lines around them as PATH-LINE-TEXT.", grep).RerunSafe()
	return p
}

func grep(ctx context.Context, call *plugin.Call, in search.Query) (string, error) {
	found, err := search.Run(ctx, call.Workspace, in, call.Output, func(files int) {
		call.Progress(fmt.Sprintf("searched %d files", files))
	})
	if search.IsClosed(err) {
		hint := fmt.Sprintf("add {\"permission\": \"read=%s\"} to permissions in plugin.json and install it again", call.Workspace)
		return "", plugin.Errorf(plugin.Denied, "%s may not be read: %w", call.Workspace, fs.ErrPermission).WithHint(hint)
	}
	if err != nil {
		return "", err
	}
	return found.String(), nil
}
