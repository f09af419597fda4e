import { type McpPackage, type McpServer, McpServerSchema, McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import type { Connection } from "../connection.ts";
import { escapeControls, escapeLine } from "../escape.ts";
import { printProto } from "../proto-json.ts";
import type { Screen } from "../screen.ts";
import { printTable } from "../table.ts";
import { EXIT, fail, type Result } from "../trouble.ts";

/** Columns before what `show` says of something. */
const VALUE_INDENT = 10;
const NOT_HEARD = "not heard yet";
const HEADINGS = ["NAME", "STATE", "REACHED BY", "TOOLS", "MAY"];

/** `claw mcp list` */
export function listMcpServers(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  return withDaemon(context, async (daemon) => {
    const listed = await daemon.call(McpService.method.listServers, { workspace: context.folder });
    if (!listed.ok) return context.report(listed.trouble);
    const { servers, problems } = listed.value;
    if (args.on("json")) for (const one of servers) printProto(screen, McpServerSchema, one);
    else if (servers.length === 0) screen.data("No MCP servers.\n");
    else printTable(screen, HEADINGS, servers.map(describeRow), "");
    for (const one of servers) if (one.waitsFor !== "") screen.note(sayWaiting(one));
    for (const { message, hint } of problems)
      screen.note(screen.paintNote("yellow", `! ${escapeLine(message)} (${escapeLine(hint)})`));
    return EXIT.done;
  });
}

/** `claw mcp show NAME` */
export function showMcpServer(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, async (daemon) => {
    context.screen.spin("asking what it offers");
    const found = await findServer(context, daemon, args.positionals[0] ?? "", true);
    context.screen.rest();
    if (!found.ok) return context.report(found.trouble);
    if (args.on("json")) printProto(context.screen, McpServerSchema, found.value);
    else showWhole(context.screen, found.value);
    if (found.value.waitsFor !== "") context.screen.note(sayWaiting(found.value));
    else if (stateOf(found.value) === NOT_HEARD) context.screen.note("it has not said yet what it offers");
    return EXIT.done;
  });
}

/**
 * Of several of one name the one that waits is meant: it is what a person has to decide about.
 *
 * @param waitForOffers one that was just added has said what it offers, or has failed; ten seconds at most
 */
export async function findServer(
  context: Context,
  daemon: Connection,
  name: string,
  waitForOffers = false,
): Promise<Result<McpServer>> {
  const listed = await daemon.call(McpService.method.listServers, { workspace: context.folder, waitForOffers });
  if (!listed.ok) return listed;
  const { servers } = listed.value;
  const named = servers.filter((one) => one.name === name);
  const found = named.find(({ waitsFor }) => waitsFor !== "") ?? named[0];
  if (found !== undefined) return { ok: true, value: found };
  const names = servers.map((one) => one.name).join(", ");
  return fail(
    "refused",
    `there is no MCP server "${name}"`,
    names === "" ? "there are none: claw mcp add NAME -- COMMAND writes one" : `there are: ${names}`,
  );
}

/** All that there is to know before a person says yes. */
export function showWhole(screen: Screen, server: McpServer): void {
  const line = (what: string, value: string) =>
    screen.data(`${screen.wrapData(`${what.padEnd(9)} ${escapeLine(value)}`, VALUE_INDENT)}\n`);
  line("server", server.name);
  line("file", server.file);
  if (server.workspace !== "") line("only in", server.workspace);
  if (server.plugin !== "") line("plugin", server.plugin);
  if (server.command.length > 0) line("starts", server.command.join(" "));
  const { package: fetched } = server;
  if (fetched !== undefined) line("fetches", describeFetch(fetched));
  if (server.url !== "") line("dials", `${server.url} (${server.transport})`);
  if (server.envNames.length > 0) line("variables", server.envNames.join(" "));
  if (server.headerNames.length > 0) line("headers", server.headerNames.join(" "));
  line("may", server.granted.length === 0 ? "nothing" : server.granted.join(" "));
  if (server.failure !== undefined) line("wrong", server.failure.message);
  if (server.waitsFor === "approval") {
    const entry = JSON.stringify(server.entry ?? {}, null, 2);
    screen.data(`its entry, before variables are put in:\n${escapeControls(entry)}\n`);
  }
  for (const tool of server.tools) {
    const mark = tool.changed ? " (changed)" : "";
    line("tool", `${tool.name}${mark}: ${tool.description}`);
  }
}

/** What is fetched, or would be, and what that does not do. */
/** By what, and with what care. */
export function sayHow(kind: string): string {
  return kind === "python"
    ? "by uv or pip from your index, wheels alone"
    : "by npm from your registry, without install scripts";
}

function describeFetch({ kind, wanted, name, version, integrity, skippedScripts }: McpPackage): string {
  const how = sayHow(kind);
  if (version === "") return `${wanted.join(" ")}: ${how}; not done yet`;
  const skipped = skippedScripts.length === 0 ? "" : `; scripts that did not run: ${skippedScripts.join(" ")}`;
  return `${wanted.join(" ")}: ${name} ${version}${integrity === "" ? "" : ` (${integrity})`}, ${how}${skipped}`;
}

function describeRow(one: McpServer): string[] {
  return [
    one.name,
    stateOf(one),
    one.url === "" ? one.command.join(" ") : one.url,
    String(one.tools.length),
    one.granted.join(" "),
  ];
}

function stateOf({ waitsFor, failure, disabled, heard }: McpServer): string {
  if (waitsFor === "approval") return "waits for a yes";
  if (waitsFor === "package") return "not fetched";
  if (failure !== undefined) return `broken: ${failure.message}`;
  if (waitsFor === "login") return "wants a login";
  if (waitsFor === "confirmation") return "tools changed";
  if (disabled) return "off";
  return heard ? "ready" : NOT_HEARD;
}

function sayWaiting({ name, waitsFor, file, tools }: McpServer): string {
  if (waitsFor === "package") return `${escapeLine(name)} is not fetched yet: claw mcp update ${escapeLine(name)}`;
  if (waitsFor === "login") return `${escapeLine(name)} wants you to log in: claw mcp login ${escapeLine(name)}`;
  const command = `claw mcp approve ${escapeLine(name)}`;
  if (waitsFor === "approval") return `${escapeLine(name)} of ${escapeLine(file)} waits: ${command} shows it`;
  const changed = tools.filter((tool) => tool.changed).map((tool) => escapeLine(tool.name));
  return `${escapeLine(name)} describes otherwise than before: ${changed.join(", ")}; ${command} shows them`;
}
