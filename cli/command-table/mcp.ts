import type { CommandEntry } from "../command.ts";
import { SAY_FLAGS } from "./conversation.ts";
import { exactly, JSON_FLAG, NONE } from "./syntax.ts";

export const MCP_COMMANDS: readonly CommandEntry[] = [
  {
    path: ["mcp", "list"],
    about: "MCP servers, with those of this folder's .mcp.json that wait for a yes",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/mcp.ts")).listMcpServers,
  },
  {
    path: ["mcp", "add"],
    about: "write a server into mcp.json: what starts it, or where it is dialled",
    positionals: { names: ["NAME", "COMMAND or URL"], min: 2, max: Number.POSITIVE_INFINITY },
    examples: [
      "mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
      // In single quotes: the daemon puts the variable in, and mcp.json never has what it says.
      "mcp add --header 'Authorization: Bearer ${TOKEN}' tracker https://example.com/mcp",
    ],
    flags: [
      { name: "env", kind: "list", value: "NAME=VALUE", about: "a variable that it gets" },
      { name: "transport", kind: "text", value: "KIND", about: "stdio, http or sse (default: by the second word)" },
      { name: "header", kind: "list", value: "NAME: VALUE", about: "a header that is sent to it" },
      { name: "timeout", kind: "text", value: "MS", about: "how long it may show no sign of life (default 5000)" },
      { name: "trust", kind: "switch", about: "let it run without a sandbox where the machine has none" },
      { name: "replace", kind: "switch", about: "put it in the place of one of the same name" },
      JSON_FLAG,
    ],
    openFlags: [{ prefix: "allow-", value: "KIND[=LIST]", about: "what it may touch: net, read, write, run" }],
    load: async () => (await import("../commands/mcp-change.ts")).addMcpServer,
  },
  {
    path: ["mcp", "import"],
    about: "take over the servers of a file that has them under mcpServers",
    positionals: exactly("FILE"),
    examples: ["mcp import ~/.claude.json"],
    flags: [
      { name: "replace", kind: "switch", about: "put them in the places of those of the same names" },
      { name: "yes", kind: "switch", about: "fetch the packages that npx or uvx would, without being asked" },
      JSON_FLAG,
    ],
    load: async () => (await import("../commands/mcp-change.ts")).importMcpServers,
  },
  {
    path: ["mcp", "show"],
    about: "what a server is, may touch and offers",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/mcp.ts")).showMcpServer,
  },
  {
    path: ["mcp", "approve"],
    about: "say yes to a server of this folder's .mcp.json, or to tools that changed",
    positionals: exactly("NAME"),
    flags: [{ name: "yes", kind: "switch", about: "without being asked" }],
    load: async () => (await import("../commands/mcp-change.ts")).approveMcpServer,
  },
  {
    path: ["mcp", "login"],
    about: "log in at a server that wants it: shows what to open in a browser, and waits for its answer",
    positionals: exactly("NAME"),
    flags: [
      {
        name: "port",
        kind: "text",
        value: "N",
        about: "the port of this machine that the browser comes back to (default: a free one)",
      },
      JSON_FLAG,
    ],
    load: async () => (await import("../commands/mcp-login.ts")).logInAtMcpServer,
  },
  {
    path: ["mcp", "logout"],
    about: "forget what a login gave",
    positionals: exactly("NAME"),
    flags: [],
    load: async () => (await import("../commands/mcp-login.ts")).logOutOfMcpServer,
  },
  {
    path: ["mcp", "remove"],
    about: "take a server out of mcp.json, with what it kept",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/mcp-change.ts")).removeMcpServer,
  },
  {
    path: ["mcp", "update"],
    about: "fetch the package of a server that npx or uvx would start, or the newest that fits",
    positionals: exactly("NAME"),
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/mcp-update.ts")).updateMcpServer,
  },
  {
    path: ["mcp", "reload"],
    about: "read the files with servers again",
    positionals: NONE,
    flags: [JSON_FLAG],
    load: async () => (await import("../commands/mcp-change.ts")).reloadMcpServers,
  },
  {
    path: ["mcp", "serve"],
    about: "be a server for clients of this protocol: clawd's tools, memory and conversations, under your rules",
    positionals: NONE,
    examples: ["mcp serve --workspace ~/project", 'mcp serve --http 127.0.0.1:7800 --tool read --tool "memory_*"'],
    flags: [
      {
        name: "http",
        kind: "text",
        value: "[HOST:]PORT",
        about: "over HTTP on this machine in place of stdin and stdout",
      },
      { name: "listen", kind: "text", value: "HOST:PORT", about: "over HTTP, for other machines, too" },
      {
        name: "token-file",
        kind: "text",
        value: "FILE",
        about: "the token that HTTP clients need (default: a fresh one)",
      },
      {
        name: "tool",
        kind: "list",
        value: "[AS=]TOOL",
        about: "offer only such tools (default: all but those of other MCP servers)",
      },
      {
        name: "prompt",
        kind: "list",
        value: "[AS=]COMMAND",
        about: "offer only such slash commands as prompts (default: those of plugins)",
      },
      {
        name: "resources",
        kind: "list",
        value: "SERVER",
        about: "offer the resources of such MCP servers, too, under their own addresses",
      },
      {
        name: "client-model",
        kind: "switch",
        about: "tools that may ask a model ask the client's own, where it offers one",
      },
      {
        name: "session",
        kind: "text",
        value: "ID",
        about: "do everything in this session (default: new ones for each client)",
      },
      ...SAY_FLAGS.filter(({ name }) => ["workspace", "allow", "yolo"].includes(name)),
      { name: "json", kind: "switch", about: "print where it listens as JSON" },
    ],
    load: async () => (await import("../commands/mcp-serve.ts")).serveMcp,
  },
];
