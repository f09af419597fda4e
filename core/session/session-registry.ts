import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Artifact } from "../domain/artifact.ts";
import type { Command } from "../domain/command.ts";
import { decide } from "../domain/decide.ts";
import type { Event, EventBody } from "../domain/event.ts";
import { type Failed, fail, ok, type Result } from "../domain/failure.ts";
import { type Journal, RESERVED_JOURNALS } from "../domain/journal.ts";
import { emptySession } from "../domain/session.ts";
import { settle } from "../domain/settle.ts";
import type { SlashCommand, SlashOutcome } from "../domain/slash-command.ts";
import type { Tool } from "../domain/tool.ts";
import { artifactPieces } from "./artifact-pieces.ts";
import { type Awake, atWork, listenTo, toolsIn } from "./awake-session.ts";
import { awakeSessions } from "./awake-sessions.ts";
import { type CallNews, callNews } from "./call-news.ts";
import { fireHooks } from "./fire-hooks.ts";
import { commandsIn, hearCommand, runCommand } from "./hear-command.ts";
import { hearMessage } from "./hear-message.ts";
import { hearOpening, type Opening } from "./hear-opening.ts";
import type { Listener, News } from "./news.ts";
import { findArtifact, foldSession, forkBodies, mayBeOpen, type Summary, summarize } from "./read-session.ts";
import { runningTurns } from "./running-turns.ts";
import type { TurnContext, TurnServices } from "./turn-context.ts";

/** How long an orderly end waits for turns to close, milliseconds. */
const CLOSE_LIMIT_MS = 8_000;
/** How long it waits after that for clients to hear of it, milliseconds. */
const TELL_LIMIT_MS = 1_000;
const TELL_POLL_MS = 5;

export type SayOptions = {
  readonly text: string;
  readonly model: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
};

/**
 * The turn that answers; an empty one when nothing was said: a hook took the message, or it was a slash command, whose
 * answer for the person is then `shown`.
 */
export type Said = {
  readonly turnId: string;
  readonly seq: number;
  readonly steered: boolean;
  readonly shown: string;
};

const NOTHING_SAID: Said = { turnId: "", seq: 0, steered: false, shown: "" };

/** A call that a program makes. */
export type CallOptions = {
  readonly tool: string;
  readonly args: JsonObject;
  /** Who calls, in its own words. */
  readonly caller: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
  /** A person there can answer questions. */
  readonly canAnswer: boolean;
};

export type ArtifactBytes = {
  readonly artifact: Artifact;
  readonly pieces: AsyncGenerator<Result<Uint8Array>, void, undefined>;
};

type Scope = Extract<Command, { kind: "answer" }>["scope"];

/** Every conversation of the house. Commands in, news out. */
export type SessionRegistry = {
  open(workspace: string, model: string): Promise<Result<string>>;
  say(id: string, options: SayOptions): Promise<Result<Said>>;
  /** The tools that conversations in a folder have. */
  tools(workspace: string, signal: AbortSignal): Promise<readonly Tool[]>;
  /** Calls a tool for a program; whoever stops listening before the end, or aborts the signal, takes the call with it. */
  callTool(
    id: string,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<Result<AsyncGenerator<CallNews, void, undefined>>>;
  /** The bytes of an artifact that a call of the session named, in their order. */
  readArtifact(id: string, artifactId: string): Promise<Result<ArtifactBytes>>;
  /** The slash commands that conversations in a folder have. */
  commands(workspace: string, signal: AbortSignal): Promise<readonly SlashCommand[]>;
  /** Asks a slash command for its words. Nothing is said to a model. */
  runCommand(id: string, name: string, args: string, signal: AbortSignal): Promise<Result<SlashOutcome>>;
  answer(id: string, approvalId: string, allowed: boolean, scope: Scope, content?: JsonObject): Promise<Result<void>>;
  /** Resolves with the turn that is being stopped. */
  interrupt(id: string): Promise<Result<string>>;
  /** News until the signal aborts; ends by itself without `follow`, and after a fault. */
  subscribe(
    id: string,
    listener: Listener,
    signal: AbortSignal,
  ): Promise<Result<AsyncGenerator<News, void, undefined>>>;
  list(limit: number): Promise<readonly Summary[]>;
  fork(id: string, atSeq: number): Promise<Result<string>>;
  remove(id: string): Promise<Result<void>>;
  /** Takes up the turns that a stop of the daemon left open. */
  resumeOpenTurns(): Promise<void>;
  busy(): number;
  /** Interrupts what runs and waits, within a limit, until it has ended. Nothing is started any more. */
  close(): Promise<void>;
};

export function sessionRegistry(journal: Journal, services: TurnServices): SessionRegistry {
  /** Calls of programs, each with what stops it. */
  const calls = new Map<string, AbortController>();
  /** Aborts when no turn may run any more, and then, when nobody is to be told any more. */
  const stopping = new AbortController();
  const closing = new AbortController();

  const turns = runningTurns({
    contextOf: around,
    hungUp: (callId) => calls.get(callId)?.signal ?? AbortSignal.abort(),
    find: (id) => awake.find(id),
    stopping: stopping.signal,
    complain: services.complain,
  });
  const awake = awakeSessions({ journal, settleLeft, hasTurn: turns.has });
  const { withSession } = awake;

  /** Settles what a stop left open in a session, and goes on with its turn. */
  async function settleLeft(session: Awake): Promise<Result<void>> {
    const tools = services.tools();
    const mayRerun = (name: string) => tools.find((tool) => tool.name === name)?.rerun === "safe";
    const written = await session.writer.write((state) => ok(settle(state, mayRerun)));
    if (!written.ok) return written;
    turns.start(session);
    return ok(undefined);
  }

  /** What the hooks of a session outside a turn, or beside it, work with. */
  function around(session: Awake, turnId: string, signal: AbortSignal): TurnContext {
    return atWork(services, session, { turnId, signal, lastSignal: closing.signal });
  }

  async function command(
    session: Awake,
    wanted: Command,
    before: readonly EventBody[] = [],
  ): Promise<Result<readonly Event[]>> {
    return session.writer.write((state) => {
      const decided = decide(state, wanted);
      return decided.ok ? ok([...before, ...decided.value]) : decided;
    });
  }

  async function open(workspace: string, model: string): Promise<Result<string>> {
    if (model !== "") {
      const resolved = services.providers.resolve(model);
      if (!resolved.ok) return resolved;
    }
    const sessionId = services.newId("session");
    const decided = decide(emptySession(sessionId), { kind: "open", sessionId, workspace, model });
    if (!decided.ok) return decided;
    return begin({ sessionId, workspace, model }, decided.value);
  }

  async function begin(opening: Opening, bodies: readonly EventBody[]): Promise<Result<string>> {
    const { sessionId } = opening;
    const heard = await hearOpening(services, opening, stopping.signal);
    if (!heard.ok) return heard;
    const created = await journal.create(sessionId);
    if (!created.ok) return created;
    const appended = await journal.append(sessionId, 0, [...bodies, ...heard.value]);
    if (appended.ok) return ok(sessionId);
    // A journal that holds nothing is no session: a full disk must not leave one behind at every try.
    await journal.remove(sessionId);
    return appended;
  }

  async function sayTo(session: Awake, options: SayOptions): Promise<Result<Said>> {
    if (stopping.signal.aborted) {
      return fail("unavailable", "the daemon is ending", { hint: "say it again: the next one starts by itself" });
    }
    const state = session.writer.state();
    const wantedModel = options.model === "" ? state.model : options.model;
    const resolved = services.providers.resolve(wantedModel);
    if (!resolved.ok) return resolved;
    const { provider, model } = resolved.value;
    const moment = around(session, state.turn?.id ?? "", stopping.signal);
    const meant = await hearCommand(moment, options.text);
    if (!meant.ok) return meant;
    if (meant.value.do === "show") return ok({ ...NOTHING_SAID, shown: meant.value.text });
    const heard = await hearMessage(moment, meant.value.text);
    if (!heard.ok) return heard;
    const { text, receipts } = heard.value;
    if (text === undefined) {
      const written = await session.writer.write(() => ok(receipts));
      return written.ok ? ok(NOTHING_SAID) : written;
    }
    const wanted: Command = {
      kind: "say",
      messageId: services.newId("message"),
      turnId: services.newId("turn"),
      text,
      model: `${provider.name}/${model}`,
      allow: options.allow,
      yolo: options.yolo,
      attended: [...session.listeners.values()].some((listener) => listener.attended),
    };
    const said = await command(session, wanted, receipts);
    if (!said.ok) return said;
    const spoke = said.value.find((event) => event.body.case === "userSpoke");
    // A command's or a hook's words are not the person's: what they say of the person would stand in every prompt to come.
    if (spoke !== undefined && text === options.text) services.profile?.heard({ sessionId: state.id, seq: spoke.seq });
    turns.start(session);
    const started = said.value.find((event) => event.body.case === "turnStarted");
    const turnId = session.writer.state().turn?.id ?? wanted.turnId;
    return ok({
      turnId: started === undefined ? turnId : wanted.turnId,
      seq: spoke?.seq ?? 0,
      steered: started === undefined,
      shown: "",
    });
  }

  async function callTo(
    session: Awake,
    { canAnswer, ...options }: CallOptions,
    signal: AbortSignal,
  ): Promise<Result<AsyncGenerator<CallNews, void, undefined>>> {
    if (stopping.signal.aborted) {
      return fail("unavailable", "the daemon is ending", { hint: "call again: the next one starts by itself" });
    }
    const callId = services.newId("call");
    const stop = new AbortController();
    calls.set(callId, stop);
    const hangUp = () => {
      calls.delete(callId);
      stop.abort();
    };
    const called = await command(session, { kind: "call", callId, turnId: services.newId("turn"), ...options });
    if (!called.ok) {
      hangUp();
      return called;
    }
    const after = (called.value[0]?.seq ?? 1) - 1;
    // Before the turn looks whether anybody is there to be asked.
    const news = listen(session, { after, follow: true, canAnswer, attended: true }, signal);
    turns.start(session);
    return ok(callNews(news, callId, hangUp));
  }

  async function readArtifact(id: string, artifactId: string): Promise<Result<ArtifactBytes>> {
    const { readArtifact: read } = services;
    if (read === undefined) return fail("not_found", "nobody keeps artifacts here");
    const found = await findArtifact(journal, id, artifactId);
    return found.ok ? ok({ artifact: found.value, pieces: artifactPieces(read, found.value) }) : found;
  }

  async function runNamed(session: Awake, name: string, args: string, signal: AbortSignal) {
    const { turn, workspace } = session.writer.state();
    const command = commandsIn(services, workspace).find((one) => one.name === name);
    if (command === undefined) return fail("not_found", `there is no slash command "/${name}" in ${workspace}`);
    return runCommand(around(session, turn?.id ?? "", AbortSignal.any([signal, stopping.signal])), command, args);
  }

  async function interrupt(session: Awake): Promise<Result<string>> {
    const done = await command(session, { kind: "interrupt" });
    if (!done.ok) return done;
    const { id, turn } = session.writer.state();
    turns.stop(id);
    return ok(turn?.id ?? "");
  }

  function listen(session: Awake, listener: Listener, signal: AbortSignal): AsyncGenerator<News, void, undefined> {
    return listenTo(journal, session, listener, AbortSignal.any([signal, closing.signal]));
  }

  async function list(limit: number): Promise<readonly Summary[]> {
    const rows: Summary[] = [];
    for await (const head of journal.heads()) {
      if (rows.length >= limit) break;
      if (RESERVED_JOURNALS.has(head.sessionId)) continue;
      const row = await summarize(journal, head, turns.has(head.sessionId));
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  async function fork(id: string, atSeq: number): Promise<Result<string>> {
    const sessionId = services.newId("session");
    const bodies = await forkBodies(journal, id, sessionId, atSeq);
    if (!bodies.ok) return bodies;
    const [opened] = bodies.value;
    const { workspace = "", model = "" } = opened?.case === "sessionOpened" ? opened.value : {};
    return begin({ sessionId, workspace, model }, bodies.value);
  }

  async function remove(id: string): Promise<Result<void>> {
    if (turns.has(id)) return turnRuns(id);
    // One that is corrupt may go; what is no session may not.
    const folded = await foldSession(journal, id);
    if (!folded.ok && folded.failure.code === "not_found") return folded;
    if (folded.ok && (await services.hooks.hears("session.closed"))) {
      await withSession(id, (session) => hearClosing(session, "removed"));
    }
    // To be heard it was woken, and a turn that a stop had left open then goes on.
    if (turns.has(id)) return turnRuns(id);
    awake.forget(id);
    services.hooks.forget(id);
    return journal.remove(id);
  }

  async function hearClosing(session: Awake, reason: "removed" | "daemon ended"): Promise<Result<void>> {
    if (session.writer.failure() !== undefined) return ok(undefined);
    const { bodies } = await fireHooks(around(session, "", closing.signal), {
      at: "session.closed",
      value: { reason },
    });
    const written = bodies.length === 0 ? ok([]) : await session.writer.write(() => ok(bodies));
    return written.ok ? ok(undefined) : written;
  }

  /** The sessions in memory are those that people were in. */
  async function hearClosingOfAll(): Promise<void> {
    if (!(await services.hooks.hears("session.closed"))) return;
    await Promise.all((await awake.all()).map((session) => hearClosing(session, "daemon ended")));
  }

  /** Resolves when every listener has heard how its session's last turn ended. */
  async function everyoneTold(): Promise<void> {
    for (const { writer, listeners } of await awake.all()) {
      const { seq } = writer.state();
      for (const box of listeners.keys()) {
        while (listeners.has(box) && box.taken() < seq && !closing.signal.aborted) await pause(TELL_POLL_MS);
      }
    }
  }

  async function resumeOpenTurns(): Promise<void> {
    for await (const head of journal.heads()) {
      if (stopping.signal.aborted) return;
      if (mayBeOpen(head)) await awake.wake(head.sessionId);
    }
  }

  return {
    open,
    say: (id, options) => withSession(id, (session) => sayTo(session, options)),
    interrupt: (id) => withSession(id, interrupt),
    subscribe: (id, listener, signal) => withSession(id, async (session) => ok(listen(session, listener, signal))),
    async tools(workspace, signal) {
      await services.toolsLearned?.(signal);
      return toolsIn(services, workspace);
    },
    callTool: (id, options, signal) => withSession(id, (session) => callTo(session, options, signal)),
    readArtifact,
    async commands(workspace, signal) {
      await services.toolsLearned?.(signal);
      return commandsIn(services, workspace);
    },
    runCommand: (id, name, args, signal) => withSession(id, (session) => runNamed(session, name, args, signal)),
    list,
    fork,
    remove,
    resumeOpenTurns,
    async answer(id, approvalId, allowed, scope, content = {}) {
      const answer = { kind: "answer", approvalId, allowed, scope, content } as const;
      const done = await withSession(id, (session) => command(session, answer));
      return done.ok ? ok(undefined) : done;
    },
    busy: turns.count,
    async close() {
      stopping.abort();
      await within(CLOSE_LIMIT_MS, turns.ended().then(hearClosingOfAll));
      await within(TELL_LIMIT_MS, everyoneTold());
      closing.abort();
    },
  };
}

function turnRuns(id: string): Failed {
  return fail("conflict", `session ${id} has a running turn`, { hint: "stop it first" });
}

function within(limitMs: number, work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work, pause(limitMs, undefined, { ref: false })]);
}
