import type { JsonObject } from "@bufbuild/protobuf";
import type { Command } from "../domain/command.ts";
import { type Failed, fail, ok, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import { settle } from "../domain/settle.ts";
import type { SlashCommand, SlashOutcome, SlashWords } from "../domain/slash-command.ts";
import type { Tool } from "../domain/tool.ts";
import { type ArtifactBytes, readArtifact } from "./artifact-pieces.ts";
import { type Awake, atWork, commandSession, listenTo, toolsIn } from "./awake-session.ts";
import { awakeSessions } from "./awake-sessions.ts";
import { forkSession, openSession } from "./begin-session.ts";
import type { CallNews } from "./call-news.ts";
import { closeSessions, hearClosing } from "./close-sessions.ts";
import { commandsIn, runNamed } from "./hear-command.ts";
import { type LenderNews, type LentAnswer, lentModels } from "./lent-models.ts";
import type { Listener, News } from "./news.ts";
import { type CallOptions, programCalls } from "./program-calls.ts";
import { foldSession, listSessions, mayBeOpen, type Summary } from "./read-session.ts";
import { runningTurns } from "./running-turns.ts";
import { type Said, type SayOptions, sayWords } from "./say-words.ts";
import type { TurnContext, TurnServices } from "./turn/turn-context.ts";
import { watchOffers } from "./watch-offers.ts";

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
  /** Lends a model to calls that name the lender, as long as somebody listens. */
  lendModel(signal: AbortSignal): AsyncGenerator<LenderNews, void, undefined>;
  answerLent(wishId: string, answer: LentAnswer): Result<void>;
  /** The bytes of an artifact that a call of the session named, in their order. */
  readArtifact(id: string, artifactId: string): Promise<Result<ArtifactBytes>>;
  /** The slash commands that conversations in a folder have. */
  commands(workspace: string, signal: AbortSignal): Promise<readonly SlashCommand[]>;
  /** Asks a slash command for its words. Nothing is said to a model. */
  runCommand(id: string, name: string, words: SlashWords, signal: AbortSignal): Promise<Result<SlashOutcome>>;
  /** Goes on when the tools or the slash commands may be others than before: at once, then at each change, until the signal aborts. */
  watchOffers(signal: AbortSignal): AsyncGenerator<void, void, undefined>;
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
  /** Aborts when no turn may run any more, and then, when nobody is to be told any more. */
  const stopping = new AbortController();
  const closing = new AbortController();

  const turns = runningTurns({
    contextOf: around,
    callerOf: (callId) => calls.callerOf(callId),
    find: (id) => awake.find(id),
    stopping: stopping.signal,
    complain: services.complain,
  });
  const awake = awakeSessions({ journal, settleLeft, hasTurn: turns.has });
  const { withSession } = awake;
  const lent = lentModels(() => services.newId("secret"));
  const starting = { contextOf: around, start: turns.start, stopping: stopping.signal };
  const calls = programCalls({ ...starting, newId: services.newId, listen, lent });
  const beginning = { journal, services, stopping: stopping.signal };

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

  /** A session outside its turn, for as long as anybody is to be told. */
  function outsideTurn(session: Awake): TurnContext {
    return around(session, "", closing.signal);
  }

  function runCommand(session: Awake, name: string, words: SlashWords, signal: AbortSignal) {
    const { turn } = session.writer.state();
    return runNamed(around(session, turn?.id ?? "", AbortSignal.any([signal, stopping.signal])), name, words);
  }

  async function interrupt(session: Awake): Promise<Result<string>> {
    const done = await commandSession(session, { kind: "interrupt" });
    if (!done.ok) return done;
    const { id, turn } = session.writer.state();
    turns.stop(id);
    return ok(turn?.id ?? "");
  }

  function listen(session: Awake, listener: Listener, signal: AbortSignal): AsyncGenerator<News, void, undefined> {
    return listenTo(journal, session, listener, AbortSignal.any([signal, closing.signal]));
  }

  async function remove(id: string): Promise<Result<void>> {
    if (turns.has(id)) return turnRuns(id);
    // One that is corrupt may go; what is no session may not.
    const folded = await foldSession(journal, id);
    if (!folded.ok && folded.failure.code === "not_found") return folded;
    if (folded.ok && (await services.hooks.hears("session.closed"))) {
      await withSession(id, (session) => hearClosing(outsideTurn(session), "removed"));
    }
    // To be heard it was woken, and a turn that a stop had left open then goes on.
    if (turns.has(id)) return turnRuns(id);
    awake.forget(id);
    services.hooks.forget(id);
    return journal.remove(id);
  }

  async function resumeOpenTurns(): Promise<void> {
    for await (const head of journal.heads()) {
      if (stopping.signal.aborted) return;
      if (mayBeOpen(head)) await awake.wake(head.sessionId);
    }
  }

  return {
    open: (workspace, model) => openSession(beginning, workspace, model),
    fork: (id, atSeq) => forkSession(beginning, id, atSeq),
    say: (id, options) => withSession(id, (session) => sayWords({ ...starting, services }, session, options)),
    interrupt: (id) => withSession(id, interrupt),
    subscribe: (id, listener, signal) => withSession(id, async (session) => ok(listen(session, listener, signal))),
    async tools(workspace, signal) {
      await services.toolsLearned?.(signal);
      return toolsIn(services, workspace);
    },
    callTool: (id, options, signal) => withSession(id, (session) => calls.call(session, options, signal)),
    lendModel: (signal) => lent.lend(AbortSignal.any([signal, closing.signal])),
    answerLent: lent.answer,
    readArtifact: (id, artifactId) => readArtifact(journal, services.readArtifact, id, artifactId),
    async commands(workspace, signal) {
      await services.toolsLearned?.(signal);
      return commandsIn(services, workspace);
    },
    runCommand: (id, name, words, signal) => withSession(id, (session) => runCommand(session, name, words, signal)),
    watchOffers: (signal) => watchOffers(services.offerNews, AbortSignal.any([signal, closing.signal])),
    list: (limit) => listSessions(journal, limit, turns.has),
    remove,
    resumeOpenTurns,
    async answer(id, approvalId, allowed, scope, content = {}) {
      const answer = { kind: "answer", approvalId, allowed, scope, content } as const;
      const done = await withSession(id, (session) => commandSession(session, answer));
      return done.ok ? ok(undefined) : done;
    },
    busy: turns.count,
    close: () => closeSessions({ hooks: services.hooks, awake, turns, outsideTurn, stopping, closing }),
  };
}

function turnRuns(id: string): Failed {
  return fail("conflict", `session ${id} has a running turn`, { hint: "stop it first" });
}
