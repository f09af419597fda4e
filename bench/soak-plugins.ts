import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const EXAMPLES = join(import.meta.dirname, "../plugins-examples");
/** The sandbox shows the system's own programs only. */
const PYTHON_FOLDERS = ["/usr/local/bin", "/usr/bin", "/bin"];
/** A call of a plugin that does not answer ends after so long, milliseconds. */
const CALL_LIMIT_MS = 3_000;
/** How long a flood lasts, seconds: one that never ends would be a question of processor limits, not of the house. */
const FLOOD_SECONDS = 1;

/** What a person would write to have a plugin misbehave: each tool floods for a while. */
const PYTHON_FLOODS = `
import os
import time


@plugin.tool
def flood_log(args, call):
    end = time.monotonic() + ${FLOOD_SECONDS}
    while time.monotonic() < end:
        os.write(2, b"noise without end\\n" * 1000)
    return "the log was flooded"


@plugin.tool
def flood_call(args, call):
    while True:
        yield "noise without end\\n" * 3000


@plugin.tool
def flood_news(args, call):
    while True:
        call.progress("noise without end")


@plugin.tool
def flood_host(args, call):
    end = time.monotonic() + ${FLOOD_SECONDS}
    while time.monotonic() < end:
        call.host.log("noise without end")
    return "the host was flooded"


plugin.serve()
`;

/** For machines without Python: the same plugin on the SDK, which is made one file when it is installed. */
const NODE_PLUGIN = `import { writeSync } from "node:fs";
import { servePlugin, tool } from "clawd/plugin";
import { setImmediate as turn } from "node:timers/promises";
const noise = "noise without end\\n".repeat(1000);
const flood = async function* () { for (;;) yield noise; };
await servePlugin({ name: "soak", version: "1.0.0", tools: [
  tool<{ text: string }>({ name: "word_count", run: ({ text }) => \`1 \${text}\` }),
  tool({ name: "flood_log", run: () => {
    for (const end = Date.now() + ${FLOOD_SECONDS * 1000}; Date.now() < end; ) writeSync(2, noise);
    return "the log was flooded";
  } }),
  tool({ name: "flood_call", run: flood }),
  tool({ name: "flood_news", run: async (_args, { progress, signal }) => { while (!signal.aborted) { progress(noise.slice(0, 17)); await turn(); } } }),
  tool({ name: "flood_host", run: async (_args, { host }) => {
    for (const end = Date.now() + ${FLOOD_SECONDS * 1000}; Date.now() < end; ) await host.log("noise without end");
    return "the host was flooded";
  } }),
] });
`;

/** The tools by which a plugin floods: its standard error, its output, its progress lines, its host. */
const FLOODS = ["flood_log", "flood_call", "flood_news", "flood_host"] as const;

export type PluginKind = "python3, standard library only" | "node, for want of python3";

export function pluginKind(): PluginKind {
  const hasPython = PYTHON_FOLDERS.some((folder) => existsSync(join(folder, "python3")));
  return hasPython ? "python3, standard library only" : "node, for want of python3";
}

export const pluginName = (index: number): string => `soak-${index}`;
export const toolName = (index: number, tool: "word_count" | (typeof FLOODS)[number]): string =>
  `plugin_${pluginName(index)}_${tool}`;

/** The word in the command line of each plugin's own process, and of the walls around it. */
export const ENTRY_WORD = /(^|\/)main\.(py|[cm]?js|ts)$/;

/** Writes the folder that a plugin is installed from. Its hook hears the calls of its own tool only. */
export function writePlugin(parent: string, index: number): string {
  const folder = join(parent, pluginName(index));
  mkdirSync(folder, { recursive: true });
  const example = join(EXAMPLES, "python-stdlib");
  const manifest = JSON.parse(readFileSync(join(example, "plugin.json"), "utf8"));
  const [count] = manifest.tools;
  const floods = FLOODS.map((name) => ({
    name,
    description: "Misbehaves for a while.",
    inputSchema: { type: "object" },
    timeoutMs: CALL_LIMIT_MS,
  }));
  const tools = [{ ...count, timeoutMs: CALL_LIMIT_MS }, ...floods];
  const own = { ...manifest, name: pluginName(index), tools };
  if (pluginKind() === "python3, standard library only") {
    cpSync(join(example, "clawd_plugin.py"), join(folder, "clawd_plugin.py"));
    const program = readFileSync(join(example, "main.py"), "utf8").replace("plugin.serve()\n", PYTHON_FLOODS);
    writeFileSync(join(folder, "main.py"), program);
    const hooks = [{ ...manifest.hooks[0], tools: [toolName(index, "word_count")] }];
    writeFileSync(join(folder, "plugin.json"), JSON.stringify({ ...own, hooks }));
  } else {
    writeFileSync(join(folder, "main.ts"), NODE_PLUGIN);
    const launch = { command: ["node", "main.ts"] };
    writeFileSync(join(folder, "plugin.json"), JSON.stringify({ ...own, launch, hooks: [] }));
  }
  return folder;
}
