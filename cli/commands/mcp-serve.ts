import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Arguments } from "../args.ts";
import type { Context } from "../command.ts";
import { reachDaemon } from "../dial.ts";
import { escapeLine } from "../escape.ts";
import { openHouse } from "../mcp-server/house.ts";
import { isLoopbackHost, openHttpDoor } from "../mcp-server/http-door.ts";
import { openListNews } from "../mcp-server/list-news.ts";
import { openOffer, readToolChoice, type ToolChoice } from "../mcp-server/offered-tools.ts";
import { passResources } from "../mcp-server/passed-resources.ts";
import { listShown } from "../mcp-server/prompts.ts";
import type { Shop } from "../mcp-server/shop.ts";
import { serveOverStdio } from "../mcp-server/stdio-door.ts";
import { openVisitor, type Visitor } from "../mcp-server/visitor.ts";
import { printJson } from "../proto-json.ts";
import { EXIT, fail, ok, type Result, thrownText } from "../trouble.ts";

const TOKEN_BYTES = 32;
/** The shortest token of a person's own, characters. */
const TOKEN_MIN_CHARS = 16;

/** `claw mcp serve`: clawd for clients of the Model Context Protocol. */
export async function serveMcp(context: Context, args: Arguments): Promise<number> {
  const plan = await readPlan(context, args);
  if (!plan.ok) return context.report(plan.trouble);
  const { workspace, choices, prompts, servers, address, token } = plan.value;
  // A client that waits for its first answer learns at once what is wrong with the daemon.
  const dialled = await context.dial();
  if (!dialled.ok) return context.report(dialled.trouble);
  dialled.value.close();
  const house = openHouse(
    () => context.dial(),
    () => reachDaemon(context.plan),
  );
  const version = (JSON.parse(readFileSync(join(context.packageRoot, "package.json"), "utf8")) as { version: string })
    .version;
  const complain = (text: string) => context.screen.note(`claw: ${escapeLine(text)}`);
  const offer = openOffer(house, workspace, choices);
  const passed = servers.length === 0 ? undefined : passResources(house, workspace, servers, complain);
  const looks = {
    tools: async () => asText(await offer.list()),
    prompts: async () => asText(await listShown({ house, workspace, choices: prompts })),
  };
  const news = openListNews({ house, workspace, looks, servers: passed?.names ?? (async () => ok([])) });
  const shop: Shop = {
    ...{ house, offer, passed, news },
    plan: {
      version,
      workspace,
      allow: args.list("allow"),
      yolo: args.on("yolo"),
      clientModel: args.on("client-model"),
      prompts,
    },
  };
  const newKey = () => randomBytes(TOKEN_BYTES).toString("hex");
  const newVisitor = () => openVisitor(house, { workspace, session: args.text("session"), newKey });
  const stop = new AbortController();
  const stopHearing = context.onInterrupt(() => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  try {
    if (address !== undefined)
      return await serveHttp(context, args, shop, { ...address, token, newKey, newVisitor }, stop.signal);
    await serveOverStdio(shop, newVisitor(), complain, stop.signal);
    return EXIT.done;
  } finally {
    stopHearing();
    news.close();
    house.close();
  }
}

type Http = Address & {
  /** The person's own; undefined for a fresh one, which is shown. */
  readonly token: string | undefined;
  readonly newKey: () => string;
  readonly newVisitor: () => Visitor;
};

async function serveHttp(
  context: Context,
  args: Arguments,
  shop: Shop,
  http: Http,
  stop: AbortSignal,
): Promise<number> {
  const { host, port, newKey, newVisitor } = http;
  const token = http.token ?? newKey();
  const opened = await openHttpDoor(shop, {
    ...{ host, port, token, newId: newKey, openVisitor: newVisitor },
    now: () => performance.now(),
  });
  if (!opened.ok) return context.report(opened.trouble);
  const { screen } = context;
  const { url } = opened.value;
  const shown = http.token === undefined ? { url, token } : { url };
  if (args.on("json")) printJson(screen, shown);
  else
    screen.data(
      Object.entries(shown)
        .map(([what, value]) => `${what.padEnd(5)} ${value}\n`)
        .join(""),
    );
  if (!isLoopbackHost(host)) {
    const warning = `! whoever reaches ${host} and has the token uses your tools; the token and all that is said go over the network in the clear`;
    screen.note(screen.paintNote("yellow", warning));
  }
  await new Promise<void>((resolve) => {
    stop.addEventListener("abort", () => resolve(), { once: true });
    if (stop.aborted) resolve();
  });
  await opened.value.close();
  return EXIT.done;
}

type Address = { readonly host: string; readonly port: number };

type Plan = {
  readonly workspace: string;
  readonly choices: readonly ToolChoice[];
  readonly prompts: readonly ToolChoice[];
  /** Names of servers whose resources are passed on, or patterns of them. */
  readonly servers: readonly string[];
  /** Undefined for stdin and stdout. */
  readonly address: Address | undefined;
  readonly token: string | undefined;
};

async function readPlan(context: Context, args: Arguments): Promise<Result<Plan>> {
  const choices = readChoices(args, "tool");
  if (!choices.ok) return choices;
  const prompts = readChoices(args, "prompt");
  if (!prompts.ok) return prompts;
  const servers = args.list("resources");
  const unreadable = servers.find((one) => !/^[A-Za-z0-9_.*-]{1,128}$/.test(one));
  if (unreadable !== undefined)
    return fail("usage", `"${unreadable}" names no server`, 'write --resources NAME or --resources "*"');
  const workspace = resolve(context.folder, args.text("workspace") ?? ".");
  const found = await stat(workspace).catch(() => undefined);
  if (found?.isDirectory() !== true) {
    return fail("usage", `the workspace ${workspace} is not a folder`, "give an existing folder to --workspace");
  }
  const address = readAddress(args);
  if (!address.ok) return address;
  const token = await readToken(context, args);
  if (!token.ok) return token;
  return ok({
    ...{ workspace, servers, choices: choices.value, prompts: prompts.value },
    ...{ address: address.value, token: token.value },
  });
}

/** A list as a text to compare by. */
function asText(listed: Result<readonly unknown[]>): Result<string> {
  return listed.ok ? ok(JSON.stringify(listed.value)) : listed;
}

function readChoices(args: Arguments, flag: "tool" | "prompt"): Result<readonly ToolChoice[]> {
  const choices: ToolChoice[] = [];
  for (const written of args.list(flag)) {
    const choice = readToolChoice(written, flag);
    if (!choice.ok) return choice;
    choices.push(choice.value);
  }
  return ok(choices);
}

function readAddress(args: Arguments): Result<Address | undefined> {
  const [near, far] = [args.text("http"), args.text("listen")];
  if (near !== undefined && far !== undefined)
    return fail("usage", "--http and --listen exclude each other", "--http is for programs of this machine");
  const written = near ?? far;
  if (written === undefined) return ok(undefined);
  const [, bracketed, plain, digits = ""] =
    /^(?:(?:\[([0-9a-fA-F:]+)\]|([^:[\]/\s]+)):)?(\d{1,5})$/.exec(written) ?? [];
  const host = bracketed ?? plain ?? "127.0.0.1";
  const port = Number(digits);
  if (digits === "" || port > 65_535)
    return fail("usage", `"${written}" is no address`, "write 127.0.0.1:PORT; port 0 is any free one");
  if (near !== undefined && !isLoopbackHost(host)) {
    return fail("usage", `${host} can be reached from other machines`, `if that is what you want: --listen ${written}`);
  }
  return ok({ host, port });
}

async function readToken(context: Context, args: Arguments): Promise<Result<string | undefined>> {
  const file = args.text("token-file");
  if (file === undefined) return ok(undefined);
  try {
    const token = (await readFile(resolve(context.folder, file), "utf8")).trim();
    if (token.length >= TOKEN_MIN_CHARS && /^[!-~]+$/.test(token)) return ok(token);
    return fail(
      "usage",
      `${file} holds no token`,
      `write ${TOKEN_MIN_CHARS} characters or more into it, e.g. openssl rand -hex 32`,
    );
  } catch (cause) {
    return fail("usage", `cannot read ${file}: ${thrownText(cause)}`, "give a file to --token-file that you may read");
  }
}
