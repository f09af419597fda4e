import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { type McpServer, McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeLine } from "../escape.ts";
import { printJson } from "../proto-json.ts";
import { EXIT, errorCode, fail, ok, type Result, thrownText } from "../trouble.ts";
import { findServer, showWhole } from "./mcp.ts";
import { askYes, fetchPackages, sayFetch, unfetched } from "./mcp-update.ts";

/** Servers are started and stopped by a change, one after the other. */
const CHANGE_LIMIT_MS = 120_000;

/** `claw mcp add NAME [--env K=V] [--transport http] [--header "K: V"] [--allow-…] -- COMMAND ARG...`, or with a URL. */
export function addMcpServer(context: Context, args: Arguments): Promise<number> {
  const [name = ""] = args.positionals;
  const entry = entryOf(args);
  if (!entry.ok) return Promise.resolve(context.report(entry.trouble));
  return addServers(context, args, { [name]: entry.value }, () => Promise.resolve(true));
}

/** `claw mcp import FILE`: the servers of a file of another program, e.g. .mcp.json or claude_desktop_config.json. */
export async function importMcpServers(context: Context, args: Arguments): Promise<number> {
  const file = resolve(context.folder, args.positionals[0] ?? "");
  let servers: unknown;
  try {
    const json: unknown = JSON.parse(await readFile(file, "utf8"));
    servers = isObject(json) ? (json.mcpServers ?? json.mcp_servers) : undefined;
  } catch (cause) {
    const missing = errorCode(cause) === "ENOENT";
    const what = missing ? `there is no ${file}` : `${file} cannot be read: ${thrownText(cause)}`;
    const hint = missing ? "name a file of another program, such as .mcp.json" : "mend the file, or name another";
    return context.report(fail("failed", what, hint).trouble);
  }
  if (isObject(servers))
    return addServers(context, args, servers, (which) =>
      args.on("yes") ? Promise.resolve(true) : mayFetch(context, which),
    );
  return context.report(fail("failed", `${file} holds no table "mcpServers"`, "name a file that does").trouble);
}

/** `claw mcp remove NAME` */
export function removeMcpServer(context: Context, args: Arguments): Promise<number> {
  const [name = ""] = args.positionals;
  return withDaemon(context, async (daemon) => {
    const gone = await daemon.call(McpService.method.removeServer, { name }, { limitMs: CHANGE_LIMIT_MS });
    if (!gone.ok) return context.report(gone.trouble);
    if (args.on("json")) printJson(context.screen, { name, file: gone.value.file });
    else context.screen.note(`took ${escapeLine(name)} out of ${escapeLine(gone.value.file)}`);
    return EXIT.done;
  });
}

/** `claw mcp approve NAME [--yes]`: shows what waits, and says yes to exactly that when a person does. */
export function approveMcpServer(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  const [name = ""] = args.positionals;
  return withDaemon(context, async (daemon) => {
    const found = await findServer(context, daemon, name);
    if (!found.ok) return context.report(found.trouble);
    const { waitsFor, sha256 } = found.value;
    if (waitsFor !== "approval" && waitsFor !== "confirmation") {
      const next = waitsFor === "login" ? "a login: claw mcp login" : "its package: claw mcp update";
      const what = waitsFor === "" ? "waits for nothing" : `waits for ${next} ${escapeLine(name)}`;
      screen.note(`${escapeLine(name)} ${what}`);
      return EXIT.done;
    }
    showWhole(screen, found.value);
    const agreed = args.on("yes") ? true : await askApproval(context, waitsFor);
    if (agreed === undefined) return EXIT.interrupted;
    if (!agreed) {
      screen.note("not approved");
      return EXIT.failed;
    }
    const request = { name, workspace: context.folder, sha256 };
    const said = await daemon.call(McpService.method.approveServer, request, { limitMs: CHANGE_LIMIT_MS });
    if (!said.ok) return context.report(said.trouble);
    screen.note(`approved ${escapeLine(name)}`);
    // The yes was said to this, too.
    const left = await unfetched(context, daemon, [name]);
    return left.ok ? fetchPackages(context, daemon, left.value) : context.report(left.trouble);
  });
}

/** `claw mcp reload` */
export function reloadMcpServers(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const read = await daemon.call(McpService.method.reloadServers, {}, { limitMs: CHANGE_LIMIT_MS });
    if (!read.ok) return context.report(read.trouble);
    const { servers, problems } = read.value;
    if (args.on("json")) printJson(screen, { servers, problems: problems.map(({ message }) => message) });
    else screen.note(`${servers} MCP servers`);
    for (const { message, hint } of problems)
      screen.note(screen.paintNote("yellow", `! ${escapeLine(message)} (${escapeLine(hint)})`));
    return EXIT.done;
  });
}

/** @param agree is asked about servers whose packages npx or uvx would fetch; undefined for an interrupt */
function addServers(
  context: Context,
  args: Arguments,
  servers: JsonObject,
  agree: (which: readonly McpServer[]) => Promise<boolean | undefined>,
): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const request = { servers, replace: args.on("replace") };
    const added = await daemon.call(McpService.method.addServers, request, { limitMs: CHANGE_LIMIT_MS });
    if (!added.ok) return context.report(added.trouble);
    const { names, file } = added.value;
    if (args.on("json")) printJson(screen, { names, file });
    else
      screen.note(
        `added ${names.map(escapeLine).join(", ")} to ${escapeLine(file)}; claw mcp show ${names.length === 1 ? escapeLine(names[0] ?? "NAME") : "NAME"} says what it may touch`,
      );
    for (const warning of fetchersAmong(servers)) screen.note(screen.paintNote("yellow", `! ${warning}`));
    const left = await unfetched(context, daemon, names);
    if (!left.ok) return context.report(left.trouble);
    const agreed = left.value.length === 0 || (await agree(left.value));
    if (agreed === undefined) return EXIT.interrupted;
    return agreed ? fetchPackages(context, daemon, left.value) : EXIT.done;
  });
}

/** Programs that get the server over the network at each start, which the sandbox of a server does not have. */
const FETCHERS = ["pnpm", "bunx", "docker"];

function fetchersAmong(servers: JsonObject): readonly string[] {
  return Object.entries(servers).flatMap(([name, entry]) => {
    const command = isObject(entry) ? entry.command : undefined;
    if (typeof command !== "string" || !FETCHERS.includes(basename(command))) return [];
    const next = "install the server and name its program (docs/mcp.md)";
    return [`${escapeLine(name)} starts with ${escapeLine(command)}, which finds no network in its sandbox: ${next}`];
  });
}

/** One entry of "mcpServers" from the words of the command line. */
function entryOf(args: Arguments): Result<JsonObject> {
  const [, target = "", ...rest] = args.positionals;
  const transport = args.text("transport");
  const isUrl = transport === undefined ? /^https?:\/\//.test(target) : transport !== "stdio";
  if (transport !== undefined && !["stdio", "http", "sse"].includes(transport))
    return fail("usage", `--transport must be stdio, http or sse, not ${transport}`);
  if (isUrl && rest.length > 0) return fail("usage", "a server with a URL takes no arguments");
  const env = pairs(args.list("env"), "=", "--env NAME=VALUE");
  if (!env.ok) return env;
  const headers = pairs(args.list("header"), ":", '--header "NAME: VALUE"');
  if (!headers.ok) return headers;
  const allow = args.open.map((flag) => flag.replace(/^allow-/, ""));
  const timeout = args.text("timeout");
  if (timeout !== undefined && !/^\d+$/.test(timeout)) return fail("usage", "--timeout must be milliseconds");
  return ok({
    ...(isUrl ? { type: transport ?? "http", url: target } : { command: target, args: rest }),
    ...(Object.keys(env.value).length === 0 ? {} : { env: env.value }),
    ...(Object.keys(headers.value).length === 0 ? {} : { headers: headers.value }),
    ...(allow.length === 0 ? {} : { allow }),
    ...(args.on("trust") ? { trust: true } : {}),
    ...(timeout === undefined ? {} : { timeout: Number(timeout) }),
  });
}

function pairs(given: readonly string[], between: string, form: string): Result<Record<string, string>> {
  const read: Record<string, string> = {};
  for (const one of given) {
    const at = one.indexOf(between);
    if (at < 1) return fail("usage", `${JSON.stringify(one)} is no pair`, `write ${form}`);
    read[one.slice(0, at).trim()] = between === ":" ? one.slice(at + 1).trim() : one.slice(at + 1);
  }
  return ok(read);
}

/** Undefined for an interrupt. */
async function mayFetch(context: Context, which: readonly McpServer[]): Promise<boolean | undefined> {
  for (const one of which) context.screen.note(`${escapeLine(one.name)} fetches ${sayFetch(one)}`);
  if (context.attended) return askYes(context, "fetch them now?");
  context.screen.note("nobody is at a terminal to say yes; claw mcp update NAME fetches one");
  return false;
}

/** Undefined for an interrupt. */
async function askApproval(context: Context, waitsFor: string): Promise<boolean | undefined> {
  const { screen } = context;
  if (!context.attended) {
    screen.note("nobody is at a terminal to say yes; the same command with --yes does");
    return false;
  }
  const what = waitsFor === "approval" ? "let it run with this, here?" : "go on with these tools as they are now?";
  return askYes(context, what);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
