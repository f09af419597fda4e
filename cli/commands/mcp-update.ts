import { type McpServer, McpService, UpdateServerResponseSchema } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import type { Connection } from "../connection.ts";
import { escapeLine } from "../escape.ts";
import { isInterrupt, readKey } from "../key.ts";
import { printProto } from "../proto-json.ts";
import { EXIT } from "../trouble.ts";
import { findServer, sayHow } from "./mcp.ts";

/** Longer than the daemon gives npm, for those that wait behind another. */
const FETCH_LIMIT_MS = 11 * 60_000;

/** `claw mcp update NAME`: fetches the package of an entry with npx or uvx, or a newer one. */
export function updateMcpServer(context: Context, args: Arguments): Promise<number> {
  return withDaemon(context, async (daemon) => {
    const found = await findServer(context, daemon, args.positionals[0] ?? "");
    if (!found.ok) return context.report(found.trouble);
    return fetchPackage(context, daemon, found.value, args.on("json"));
  });
}

/** Those of the servers whose package is not there yet; `known` are their names, `context.folder` where they count. */
export async function unfetched(context: Context, daemon: Connection, known: readonly string[]) {
  const listed = await daemon.call(McpService.method.listServers, { workspace: context.folder });
  if (!listed.ok) return listed;
  const value = listed.value.servers.filter(({ name, waitsFor }) => known.includes(name) && waitsFor === "package");
  return { ok: true as const, value };
}

/** One after the other; what fails with one is reported, and the others are fetched all the same. */
export async function fetchPackages(
  context: Context,
  daemon: Connection,
  servers: readonly McpServer[],
): Promise<number> {
  let code: number = EXIT.done;
  for (const server of servers) {
    const ended = await fetchPackage(context, daemon, server, false);
    code = Math.max(code, ended);
    if (ended === EXIT.done) continue;
    const [name, file] = [escapeLine(server.name), escapeLine(server.file)];
    context.screen.note(`${name} stays in ${file}, not fetched: claw mcp update ${name} tries again`);
  }
  return code;
}

async function fetchPackage(context: Context, daemon: Connection, server: McpServer, json: boolean): Promise<number> {
  const { screen } = context;
  const name = escapeLine(server.name);
  if (server.package !== undefined) screen.note(`${name}: fetching ${sayFetch(server)}`);
  screen.spin("fetching");
  const request = { name: server.name, workspace: server.workspace };
  const done = await daemon.call(McpService.method.updateServer, request, { limitMs: FETCH_LIMIT_MS });
  screen.rest();
  if (!done.ok) return context.report(done.trouble);
  const { package: fetched, before } = done.value;
  if (json) printProto(screen, UpdateServerResponseSchema, done.value);
  if (fetched === undefined) return EXIT.done;
  const was = before === "" ? "" : before === fetched.version ? ", as before" : `, ${before} before`;
  screen.note(`${name}: ${escapeLine(`${fetched.name} ${fetched.version}${was}`)}`);
  if (fetched.skippedScripts.length > 0) {
    const which = fetched.skippedScripts.map(escapeLine).join(", ");
    screen.note(screen.paintNote("yellow", `! install scripts that did not run: ${which}; it may miss what they make`));
  }
  return EXIT.done;
}

/** What a yes to it lets happen. */
export function sayFetch(server: McpServer): string {
  const { wanted = [], kind = "" } = server.package ?? {};
  return `${wanted.map(escapeLine).join(" ")} ${sayHow(kind)}`;
}

/** Undefined for an interrupt; no where nobody is there. */
export async function askYes(context: Context, question: string): Promise<boolean | undefined> {
  const { screen } = context;
  const show = (): void => screen.ask(`${question} [y] yes · [n] no `);
  const key = await readKey(context.stdin, { wanted: ["y", "n"], show }, new AbortController().signal);
  screen.unask();
  return isInterrupt(key) ? undefined : key === "y";
}
