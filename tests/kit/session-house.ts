import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "../../core/domain/event.ts";
import { ok } from "../../core/domain/failure.ts";
import { type Hooks, NO_HOOKS } from "../../core/domain/hook.ts";
import type { Journal } from "../../core/domain/journal.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";
import type { TurnProfile } from "../../core/domain/profile.ts";
import type { SlashCommand } from "../../core/domain/slash-command.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../core/domain/tool.ts";
import type { ToolFilter } from "../../core/domain/tool-filter.ts";
import type { TurnRecall } from "../../core/domain/turn-recall.ts";
import { openJournal } from "../../core/journal/jsonl-journal.ts";
import type { News } from "../../core/session/news.ts";
import { type SessionRegistry, sessionRegistry } from "../../core/session/session-registry.ts";
import { standardGates } from "../../core/session/turn/gates.ts";
import { DEFAULT_LIMITS, type TurnLimits } from "../../core/session/turn/turn-context.ts";
import { onlyProvider, type ScriptedReply, scriptedProvider } from "./scripted-provider.ts";

const closers: (() => Promise<unknown>)[] = [];

/** Closes what the tests of a file have opened; for `afterEach`. */
export async function closeHouses(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

export type House = {
  readonly dir: string;
  readonly sessions: SessionRegistry;
  readonly journal: Journal;
  /** How many events each append to the journal carried. */
  readonly commits: number[];
  readonly prompts: ReturnType<typeof scriptedProvider>["prompts"];
  /** Decisions that were made before their session was there. */
  readonly decisions: PermissionDecision[];
};

export const complaints: unknown[] = [];

export type HouseOptions = {
  readonly replies: readonly ScriptedReply[];
  readonly tools?: readonly Tool[];
  readonly commands?: readonly SlashCommand[];
  readonly hooks?: Hooks;
  readonly recall?: TurnRecall;
  readonly profile?: TurnProfile;
  readonly toolFilter?: ToolFilter;
  readonly limits?: Partial<TurnLimits>;
  readonly dir?: string;
};

export async function openHouse({
  replies,
  tools = [],
  commands = [],
  hooks,
  recall,
  profile,
  toolFilter,
  limits,
  dir,
}: HouseOptions): Promise<House> {
  const folder = dir ?? (await mkdtemp(join(tmpdir(), "clawd-session-")));
  if (dir === undefined) closers.push(() => rm(folder, { recursive: true, force: true }));
  let ids = 0;
  const opened = await openJournal({ dir: folder, now: () => 1000 });
  if (!opened.ok) throw new Error(opened.failure.message);
  closers.push(() => opened.value.close());
  const commits: number[] = [];
  const decisions: PermissionDecision[] = [];
  const journal: Journal = {
    ...opened.value,
    append(id, seq, bodies) {
      commits.push(bodies.length);
      return opened.value.append(id, seq, bodies);
    },
  };
  const provider = scriptedProvider(replies);
  const quiet = hooks ?? { hears: async () => false, run: async () => NO_HOOKS, forget() {} };
  const protectedPath = (path: string) => (path.includes(".ssh") ? "keys lie there" : undefined);
  const sessions = sessionRegistry(journal, {
    providers: onlyProvider(provider),
    tools: () => tools,
    commands: () => commands,
    gates: standardGates([{ pattern: "forbidden", verdict: "deny" }], protectedPath),
    hooks: quiet,
    recall,
    profile,
    toolFilter,
    async record(decision) {
      decisions.push(decision);
      return ok(undefined);
    },
    limits: { ...DEFAULT_LIMITS, ...limits },
    complain: (cause) => complaints.push(cause),
    now: () => 1000,
    newId(kind) {
      ids += 1;
      return `${kind}-${folder.slice(-6).toLowerCase()}-${ids}`;
    },
  });
  closers.push(() => sessions.close());
  return { dir: folder, sessions, journal, commits, prompts: provider.prompts, decisions };
}

export function tool(
  name: string,
  run: (args: Record<string, unknown>, context: ToolContext) => Promise<ToolOutcome>,
  more: Partial<Tool> = {},
): Tool {
  return {
    name,
    description: name,
    input: { type: "object", properties: { path: { type: "string" } } },
    aliases: [`${name}_alias`],
    category: "file_read",
    rerun: "safe",
    timeoutMs: 10_000,
    needs: () => [],
    run,
    ...more,
  };
}

export const echo = tool("echo", async (args) => ({ status: "done", output: `echo ${JSON.stringify(args)}` }));

export async function open(house: House): Promise<string> {
  const opened = await house.sessions.open(house.dir, "");
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.value;
}

export const PERSON = { after: 0, follow: true, canAnswer: true, attended: true };
export const NOBODY = { after: 0, follow: true, canAnswer: false, attended: true };

/** Listens until the news says so, and gives back all that was heard. */
export async function listen(
  house: House,
  id: string,
  listener: typeof PERSON,
  until: (news: News) => boolean | Promise<boolean>,
) {
  const stop = new AbortController();
  const subscribed = await house.sessions.subscribe(id, listener, stop.signal);
  if (!subscribed.ok) throw new Error(subscribed.failure.message);
  const heard: News[] = [];
  const done = (async () => {
    for await (const news of subscribed.value) {
      heard.push(news);
      if (await until(news)) break;
    }
    return heard;
  })();
  closers.push(async () => stop.abort());
  return done;
}

export const isEnd = (news: News) => news.kind === "event" && news.event.body.case === "turnEnded";

export async function say(house: House, id: string, text = "go", more: { allow?: string[]; yolo?: boolean } = {}) {
  const said = await house.sessions.say(id, { text, model: "", allow: [], yolo: false, ...more });
  if (!said.ok) throw new Error(said.failure.message);
  return said.value;
}

/** Says something and waits for the turn's end; gives back the turn's events. */
export async function converse(
  house: House,
  id: string,
  listener = NOBODY,
  more: { allow?: string[]; yolo?: boolean } = {},
) {
  const heard = listen(house, id, listener, isEnd);
  await say(house, id, "go", more);
  return eventsOf(await heard);
}

/** All events of a session that are stored now. */
export async function stored(house: House, id: string): Promise<readonly Event[]> {
  return eventsOf(await listen(house, id, { ...NOBODY, follow: false }, () => false));
}

export function eventsOf(news: readonly News[]): readonly Event[] {
  return news.flatMap((one) => (one.kind === "event" ? [one.event] : []));
}

export const cases = (events: readonly Event[]) => events.map((event) => event.body.case);

export function endings(events: readonly Event[]) {
  return events.flatMap(({ body }) =>
    body.case === "toolCallEnded" ? [{ status: body.value.status, output: body.value.output }] : [],
  );
}
