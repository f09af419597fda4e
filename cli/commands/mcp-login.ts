import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import type { Arguments } from "../args.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeLine } from "../escape.ts";
import { printJson } from "../proto-json.ts";
import { EXIT, fail, ok, type Result, thrownText } from "../trouble.ts";

/** One step of a login: the server's side is asked several things. */
const STEP_LIMIT_MS = 120_000;
/** How long a person may take in their browser. */
const BROWSER_LIMIT_MS = 10 * 60_000;
const CALLBACK_PATH = "/callback";

/** `claw mcp login NAME [--port N]` */
export async function logInAtMcpServer(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  const [name = ""] = args.positionals;
  const port = args.text("port") ?? "0";
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    return context.report(fail("usage", "--port must be a port").trouble);
  const listening = await listen(Number(port));
  if (!listening.ok) return context.report(listening.trouble);
  const { server, redirectUrl } = listening.value;
  try {
    return await withDaemon(context, async (daemon) => {
      const begun = await daemon.call(McpService.method.beginLogin, { name, redirectUrl }, { limitMs: STEP_LIMIT_MS });
      if (!begun.ok) return context.report(begun.trouble);
      const { authorizationUrl } = begun.value;
      if (authorizationUrl === "") {
        screen.note(`${escapeLine(name)} wants no login`);
        return EXIT.done;
      }
      const state = stateOf(authorizationUrl);
      if (state === undefined) {
        const what = `what ${escapeLine(name)} wants opened is no address of a login: ${escapeLine(authorizationUrl)}`;
        return context.report(fail("refused", what).trouble);
      }
      if (args.on("json")) printJson(screen, { authorizationUrl });
      else screen.note(`open this in a browser of this machine:\n${escapeLine(authorizationUrl)}`);
      const query = await hearBrowser(server, state);
      if (query === undefined) return context.report(fail("failed", "the browser did not come back in time").trouble);
      const done = await daemon.call(McpService.method.finishLogin, { name, query }, { limitMs: STEP_LIMIT_MS });
      if (!done.ok) return context.report(done.trouble);
      if (args.on("json")) printJson(screen, { loggedIn: name });
      else screen.note(`logged in at ${escapeLine(name)}`);
      return EXIT.done;
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** `claw mcp logout NAME` */
export function logOutOfMcpServer(context: Context, args: Arguments): Promise<number> {
  const [name = ""] = args.positionals;
  return withDaemon(context, async (daemon) => {
    const gone = await daemon.call(McpService.method.logout, { name }, { limitMs: STEP_LIMIT_MS });
    if (!gone.ok) return context.report(gone.trouble);
    context.screen.note(`what the login at ${escapeLine(name)} gave is forgotten`);
    return EXIT.done;
  });
}

/** On the loopback alone: nobody else can bring an answer. */
async function listen(port: number): Promise<Result<{ readonly server: Server; readonly redirectUrl: string }>> {
  const server = createServer();
  const up = Promise.withResolvers<void>();
  server.once("error", up.reject);
  server.listen(port, "127.0.0.1", up.resolve);
  try {
    await up.promise;
  } catch (cause) {
    return fail("failed", `nothing can listen on port ${port}: ${thrownText(cause)}`, "choose another with --port");
  }
  const { port: actual } = server.address() as AddressInfo;
  return ok({ server, redirectUrl: `http://127.0.0.1:${actual}${CALLBACK_PATH}` });
}

/** What the answer must bring back; undefined for what no browser should be sent to. */
function stateOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, searchParams } = new URL(address);
  return protocol === "https:" || protocol === "http:" ? (searchParams.get("state") ?? undefined) : undefined;
}

/** The query that comes back with this state; whatever else comes is turned away. Undefined when nothing does in time. */
function hearBrowser(server: Server, state: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), BROWSER_LIMIT_MS);
    server.on("request", (request, response) => {
      const { pathname, searchParams, search } = new URL(request.url ?? "/", "http://127.0.0.1");
      const isAnswer = request.method === "GET" && pathname === CALLBACK_PATH && searchParams.get("state") === state;
      const text = isAnswer ? "Done: you can close this page and go back to claw." : "Nothing waits for this.";
      response.writeHead(isAnswer ? 200 : 404, { "content-type": "text/plain; charset=utf-8", connection: "close" });
      response.end(`${text}\n`);
      if (!isAnswer) return;
      clearTimeout(timer);
      resolve(search.slice(1));
    });
  });
}
