package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// exitNoHost is EX_USAGE of sysexits.h: started by hand, not by a host.
const exitNoHost = 64

// ErrNoHost is what [Plugin.Run] returns when the program was not started by clawd.
var ErrNoHost = errors.New("not started by clawd")

// Plugin is what a program offers. Declare everything before [Main] or [Plugin.Run]. A declaration that can never work, say a name
// twice, panics: it is the author's mistake, and shows at the first start.
type Plugin struct {
	name, version string
	tools         map[string]*ToolDeclaration
	toolNames     []string
	hooks         []*HookDeclaration
	models        []*modelProvider
	embedders     []*embedder
	sources       []*memorySource
	commands      []*CommandDeclaration
	settings      *settings
	stop          func(context.Context)
}

// New makes a plugin that offers nothing yet. Name and version are those of plugin.json.
func New(name, version string) *Plugin {
	return &Plugin{name: name, version: version, tools: map[string]*ToolDeclaration{}}
}

// OnStop sets what tidies up before the process ends. It has two seconds, and half a one when the host is gone.
func (p *Plugin) OnStop(stop func(ctx context.Context)) { p.stop = stop }

// Main serves the plugin until clawd ends it, then ends the process. Started by hand it explains itself and ends with
// code 64; with the arguments `manifest FILE` it writes what it declares into that plugin.json.
func Main(p *Plugin) {
	if os.Getenv("CLAWD_PLUGIN") != "1" && len(os.Args) == 3 && os.Args[1] == "manifest" {
		if err := p.UpdateManifest(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	err := p.Run(context.Background())
	switch {
	case errors.Is(err, ErrNoHost):
		fmt.Fprintf(os.Stderr, "%s %s is a plugin of clawd and runs only inside it.\n"+
			"Install it with:  claw plugin install FOLDER   (the folder that holds plugin.json)\n", p.name, p.version)
		os.Exit(exitNoHost)
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Run serves the plugin until clawd ends it, or ctx is done, and returns nil then. It takes over standard input and descriptor 3.
func (p *Plugin) Run(ctx context.Context) error {
	if os.Getenv("CLAWD_PLUGIN") != "1" {
		return ErrNoHost
	}
	return p.serve(ctx, os.Stdin, os.NewFile(helloDescriptor, "hello"))
}
