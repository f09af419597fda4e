// Package plugin is everything that a plugin of clawd needs.
//
//	type Greeting struct {
//		Name string `json:"name" description:"Whom to greet"`
//	}
//
//	func main() {
//		p := plugin.New("hello", "1.0.0")
//		plugin.Tool(p, "greet", "Greets somebody.",
//			func(ctx context.Context, call *plugin.Call, in Greeting) (string, error) {
//				return "Hello, " + in.Name + "!", nil
//			})
//		plugin.Main(p)
//	}
//
// The file plugin.json beside the program says the same to people and to the model before anything runs. `go run .
// manifest plugin.json` writes into it what the program declares, with the schemas of arguments made from struct tags;
// permissions and the rest of it are the author's, and stay as they are. [Plugin.CheckManifest] tells a test when the two differ.
//
// # What runs, and when it ends
//
// Tools, hooks and all else run side by side, each in a goroutine of its own. Their context ends when nobody waits any
// more: the call was cancelled, its time is up, or the host is gone. A function should return soon then; what it returns
// is read by nobody. A panic fails the one call that it came from.
//
// An error that is returned is told in its own words. An [Error] says, too, of what kind it is and what to do next.
//
// Whatever the program prints is its log (`claw plugin logs NAME`); [Host.Logger] gives lines there a level.
package plugin
