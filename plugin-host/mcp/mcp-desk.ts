import { createHash } from "node:crypto";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import type { McpAdmin, McpPackageRow, McpRow } from "../../core/domain/admin.ts";
import { type Failure, fail, failureToProto, ok, type Result } from "../../core/domain/failure.ts";
import { oneByOne } from "../../core/domain/one-by-one.ts";
import type { Adoption } from "../manifest/adopted-plugin.ts";
import { BEGIN_LOGIN, FINISH_LOGIN, LOGIN_CHALLENGE } from "../mcp-bridge/bridge-settings.ts";
import { addApproval, entryDigest } from "./approvals.ts";
import type { FetchedPackage } from "./fetched-package.ts";
import { type KnownServer, readKnownServers, type ServerPlaces, WORKSPACE_FILE } from "./known-servers.ts";
import type { PackageFetcher } from "./package-fetcher.ts";
import type { PackageKind, PackageWords } from "./package-words.ts";
import { type McpServer, readServerEntry } from "./server-entry.ts";
import { serverResources } from "./server-resources.ts";
import { readServersFile, writeServersFile } from "./servers-file.ts";
import { wholeGrant } from "./usual-grant.ts";

/** The bridge and the authorization server have so long for one step of a login. */
const LOGIN_LIMIT_MS = 90_000;

/** The servers of the house: read from their files, run as plugins, changed by people. */
export type McpDesk = McpAdmin & {
  /** Reads the files for the first time, and rejects when that breaks. */
  begin(): Promise<void>;
  /** What is wrong with the files, as they were read last. */
  problems(): readonly Failure[];
};

export function openMcpDesk(places: ServerPlaces, adoption: Adoption, packages: PackageFetcher): McpDesk {
  let known: readonly KnownServer[] = [];
  let problems: readonly Failure[] = [];
  let begun: Promise<void> = Promise.resolve();

  const inTurn = oneByOne();

  async function readAll(): Promise<void> {
    const read = await readKnownServers(places);
    ({ known, problems } = read);
    await adoption.adopt(known.map(({ adopted }) => adopted));
    adoption.learn();
  }

  async function list(workspace: string) {
    const waiting = workspace === "" ? { rows: [], problems: [] } : await waitingIn(places, known, workspace);
    const described = await Promise.all(known.map((one) => describe(one, adoption)));
    const rows = [...described, ...waiting.rows];
    return {
      servers: rows.sort((left, right) => ((left.name ?? "") < (right.name ?? "") ? -1 : 1)),
      problems: [...problems, ...waiting.problems],
    };
  }

  async function add(entries: JsonObject, replace: boolean) {
    const { homeFile: file, homeDir, env } = places;
    const names = Object.keys(entries);
    if (names.length === 0) return fail("invalid", "there is no server in it", { hint: 'it needs "mcpServers"' });
    for (const [name, entry] of Object.entries(entries)) {
      const read = readServerEntry(name, entry, { file, folder: homeDir, homeDir, env });
      if (!read.ok) return read;
    }
    const before = await readServersFile(file);
    if (!before.ok) return before;
    const taken = names.find((name) => Object.hasOwn(before.value.servers, name));
    if (taken !== undefined && !replace) {
      const hint = `take it out first: claw mcp remove ${taken}, or add --replace`;
      return fail("conflict", `there is an MCP server "${taken}" in ${file} already`, { hint });
    }
    const written = await writeServersFile(file, before.value, { ...before.value.servers, ...entries });
    if (!written.ok) return written;
    await readAll();
    return ok({ names, file });
  }

  async function remove(name: string): Promise<Result<string>> {
    const { homeFile: file } = places;
    const before = await readServersFile(file);
    if (!before.ok) return before;
    if (!Object.hasOwn(before.value.servers, name)) return notInFile(name);
    const { [name]: gone, ...others } = before.value.servers;
    const written = await writeServersFile(file, before.value, others);
    if (!written.ok) return written;
    const plugin = known.find((one) => one.server.name === name && one.file === file)?.adopted.manifest.name;
    await readAll();
    if (plugin === undefined || gone === undefined) return ok(file);
    const forgotten = await adoption.forget(plugin);
    await packages.tidy(join(places.serversDir, plugin), undefined);
    return forgotten.ok ? ok(file) : forgotten;
  }

  function notInFile(name: string): Result<never> {
    const elsewhere = known.find(({ server }) => server.name === name);
    if (elsewhere !== undefined)
      return fail("conflict", `the MCP server "${name}" stands in ${elsewhere.file}`, { hint: "take it out there" });
    const names = known.map(({ server }) => server.name);
    const hint = names.length === 0 ? "there is none: claw mcp add" : `there are: ${names.join(", ")}`;
    return fail("not_found", `there is no MCP server "${name}"`, { hint });
  }

  async function approve(name: string, workspace: string, sha256: string): Promise<Result<void>> {
    const { servers } = await list(workspace);
    const row = servers.find((one) => one.name === name && (one.waitsFor ?? "") !== "");
    if (row === undefined) {
      if (servers.some((one) => one.name === name))
        return fail("conflict", `the MCP server "${name}" waits for nothing`, { hint: `claw mcp show ${name}` });
      return notInFile(name);
    }
    if (row.sha256 !== sha256)
      return fail("conflict", `the MCP server "${name}" is not what was shown any more`, { hint: "look at it again" });
    if (row.waitsFor === "confirmation") return adoption.settle(row.plugin ?? "");
    const added = await addApproval(places.approvedFile, { workspace, name, sha256 });
    if (added.ok) await readAll();
    return added;
  }

  /** Not in turn: it takes minutes, and what is there goes on meanwhile. */
  async function update(name: string, workspace: string) {
    const named = known.filter(({ server }) => server.name === name);
    const one = named.find((other) => other.workspace === workspace) ?? named[0];
    if (one === undefined) return notInFile(name);
    const { server, adopted, fetched: before } = one;
    const wanted = server.reach.kind === "stdio" ? server.reach.fetches : undefined;
    if (wanted === undefined)
      return fail("conflict", `the MCP server "${name}" has no package that is fetched for it`, {
        hint: `claw mcp show ${name} says what starts it`,
      });
    if (!wanted.ok)
      return fail("invalid", `the MCP server "${name}" ${wanted.problem}`, { hint: `write ${wanted.form}` });
    const folder = join(places.serversDir, adopted.manifest.name);
    const fetched = await packages.fetch(folder, wanted.value);
    if (!fetched.ok) return { ok: false as const, failure: withNext(fetched.failure, name, wanted.value.kind) };
    await inTurn(readAll);
    const isThere = known.some((other) => other.adopted.manifest.name === adopted.manifest.name);
    await packages.tidy(folder, isThere ? wanted.value : undefined);
    if (!isThere)
      return fail("cancelled", `the MCP server "${name}" was taken away while its package was fetched`, {
        hint: "claw mcp list",
      });
    return ok({ package: describePackage(wanted.value, fetched.value), before: before?.version ?? "" });
  }

  /** The server's plugin, for what its owner does with it. */
  function pluginOf(name: string): Result<string> {
    const found = known.find(({ server }) => server.name === name);
    return found === undefined ? notInFile(name) : ok(found.adopted.manifest.name);
  }

  /** The plugin of a server that conversations in a folder have. */
  function pluginIn(name: string, folder: string): Result<string> {
    const found = known.find(
      ({ server, workspace }) => server.name === name && (workspace === undefined || workspace === folder),
    );
    return found === undefined ? notInFile(name) : ok(found.adopted.manifest.name);
  }

  async function login(name: string, call: string, args: JsonObject): Promise<Result<string>> {
    const plugin = pluginOf(name);
    if (!plugin.ok) return plugin;
    const said = await adoption.command(plugin.value, call, args, AbortSignal.timeout(LOGIN_LIMIT_MS));
    if (said.ok || said.failure.code === "cancelled") return said;
    const { hint = 'its authorization server may stand elsewhere: allow = ["net=HOST"] in its entry' } = said.failure;
    return { ok: false, failure: { ...said.failure, hint } };
  }

  return {
    begin: () => {
      begun = inTurn(readAll);
      return begun;
    },
    learned: async (signal) => {
      // Whoever began it hears of its failure.
      await begun.catch(() => {});
      await adoption.learned(signal);
    },
    problems: () => problems,
    list: (workspace) => inTurn(() => list(workspace)),
    add: (entries, replace) => inTurn(() => add(entries, replace)),
    remove: (name) => inTurn(() => remove(name)),
    approve: (name, workspace, sha256) => inTurn(() => approve(name, workspace, sha256)),
    beginLogin: (name, redirectUrl) => inTurn(() => login(name, BEGIN_LOGIN, { redirectUrl })),
    async finishLogin(name, query) {
      const done = await inTurn(() => login(name, FINISH_LOGIN, { query }));
      return done.ok ? ok(undefined) : done;
    },
    logout: (name) =>
      inTurn(async () => {
        const plugin = pluginOf(name);
        return plugin.ok ? adoption.forgetSecrets(plugin.value) : plugin;
      }),
    update,
    ...serverResources(pluginIn, adoption),
    reload: () =>
      inTurn(async () => {
        await readAll();
        return { servers: known.length, problems };
      }),
  };
}

function withNext(failure: Failure, name: string, kind: PackageKind): Failure {
  const isWrong = failure.code === "not_found" || failure.code === "invalid";
  const next = isWrong
    ? `claw mcp add --replace ${name} -- ${kind === "npm" ? "npx -y" : "uvx"} PACKAGE`
    : `claw mcp update ${name}`;
  return { ...failure, hint: `${failure.hint ?? "look at it"}; then: ${next}` };
}

function describePackage({ kind, packages }: PackageWords, fetched: FetchedPackage | undefined): McpPackageRow {
  const { name = "", version = "", integrity = "", skippedScripts = [] } = fetched ?? {};
  return { kind, wanted: [...packages], name, version, integrity, skippedScripts: [...skippedScripts] };
}

async function describe(
  { server, file, workspace, adopted, fetched }: KnownServer,
  adoption: Adoption,
): Promise<McpRow> {
  const plugin = adopted.manifest.name;
  const tools = adoption.tools(plugin);
  const failure = adoption.failure(plugin);
  const changed = tools.filter(({ unsettled }) => unsettled !== "").map(({ edition }) => edition);
  const sha256 = createHash("sha256").update(changed.join("\n")).digest("hex");
  return {
    ...describeEntry(server, fetched),
    ...{
      plugin,
      file,
      workspace: workspace ?? "",
      disabled: !adopted.enabled,
      heard: adoption.heard(plugin),
      granted: adopted.manifest.wants.map(({ permission }) => permission),
    },
    tools: tools.map(({ fullName, name, description, unsettled }) => ({
      ...{ name: fullName, serverName: name, description, changed: unsettled !== "" },
    })),
    ...(adopted.enabled && adopted.missing?.code === "unavailable" ? { waitsFor: "package" } : {}),
    ...(changed.length > 0 ? { waitsFor: "confirmation", sha256 } : await loginRow(adoption, plugin)),
    ...(failure === undefined ? {} : { failure: failureToProto(failure) }),
  };
}

/** What the bridge keeps there is why the server turned it away. */
async function loginRow(adoption: Adoption, plugin: string): Promise<Pick<McpRow, "waitsFor">> {
  const challenge = await adoption.secret(plugin, LOGIN_CHALLENGE);
  return challenge.ok && challenge.value !== undefined ? { waitsFor: "login" } : {};
}

function describeEntry({ name, reach, entry }: McpServer, fetched?: FetchedPackage) {
  const isChild = reach.kind === "stdio";
  return {
    ...{ name, transport: reach.kind, entry },
    ...(isChild ? { command: [reach.command, ...reach.args] } : { url: reach.url }),
    envNames: isChild ? Object.keys(reach.env) : [],
    headerNames: isChild ? [] : Object.keys(reach.headers),
    ...(isChild && reach.fetches?.ok ? { package: describePackage(reach.fetches.value, fetched) } : {}),
  };
}

/** The servers of a folder's file to which nobody has said yes. */
async function waitingIn(places: ServerPlaces, known: readonly KnownServer[], workspace: string) {
  const file = join(workspace, WORKSPACE_FILE);
  const read = await readServersFile(file);
  if (!read.ok) return { rows: [], problems: [read.failure] };
  const rows: McpRow[] = [];
  const problems: Failure[] = [];
  const { homeDir, env } = places;
  for (const [name, entry] of Object.entries(read.value.servers)) {
    if (known.some((one) => one.workspace === workspace && one.server.name === name)) continue;
    const server = readServerEntry(name, entry, { file, folder: workspace, homeDir, env });
    if (!server.ok) {
      problems.push(server.failure);
      continue;
    }
    const granted = wholeGrant(server.value, { folder: workspace, homeDir, searchPath: env.PATH ?? "" });
    rows.push({
      ...describeEntry(server.value),
      ...{ file, workspace, granted: [...granted] },
      ...{ waitsFor: "approval", sha256: entryDigest(workspace, name, entry, granted) },
    });
  }
  return { rows, problems };
}
