import type { JsonObject } from "@bufbuild/protobuf";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../core/domain/tool.ts";
import type { Incarnation } from "../life/incarnation.ts";
import type { LogRing } from "../link/log-ring.ts";
import { MAX_MESSAGE_BYTES } from "../link/plugin-client.ts";
import { LinkError, type ToolCall, type ToolNews, type ToolResult } from "../link/plugin-link.ts";
import { EXIT_GRACE_MS, sayExit } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import type { PluginManifest, PluginTool } from "../manifest/manifest.ts";
import type { OfferParts } from "./offer-parts.ts";

const MAX_PROGRESS_LINES = 1_000;
const MAX_PROGRESS_CHARS = 2_000;
/** A plugin that has given its result must end the stream; nobody waits longer than this to see whether it sends more. */
const AFTER_RESULT_MS = 1_000;
/** A plugin that let a call run out of time has this long to show that it lives. */
const LIFE_SIGN_MS = 2_000;

/** A plugin's tool as the daemon sees it. Its process is started by the first call. */
export function makePluginTool(parts: OfferParts, declared: PluginTool): Tool {
  return {
    name: declared.fullName,
    description: declared.description,
    input: declared.input,
    aliases: [],
    category: "plugin",
    rerun: declared.rerun,
    // The declared time is for the tool itself; the start of its process has its own.
    timeoutMs: declared.timeoutMs + parts.manifest.startTimeoutMs,
    needs: () => [{ kind: "tool", name: declared.fullName }],
    run: async (args, context) => {
      const result = await runTool(parts, declared, args, context);
      if (!result.ok) return { status: "failed", output: sayFailure(result.failure), failure: result.failure };
      return result.value;
    },
  };
}

async function runTool(
  { manifest, supervisor, queue, calls, log, now }: OfferParts,
  tool: PluginTool,
  args: JsonObject,
  context: ToolContext,
): Promise<Result<ToolOutcome>> {
  const queuedAtMs = now();
  const place = await queue.enter(tool.timeoutMs, context.signal);
  if (!place.ok) return place;
  try {
    const leftMs = Math.max(1, tool.timeoutMs - (now() - queuedAtMs));
    const held = await supervisor.acquire(context.signal);
    if (!held.ok) return held;
    const { incarnation, release } = held.value;
    const close = calls.open(context);
    const call = { callId: context.callId, sessionId: context.sessionId, tool: tool.name, args, timeLimitMs: leftMs };
    try {
      return await hearCall({ manifest, tool, log, incarnation, leftMs }, call, context);
    } finally {
      close();
      release();
    }
  } finally {
    place.value();
  }
}

type Hearing = {
  readonly manifest: PluginManifest;
  readonly tool: PluginTool;
  readonly log: LogRing;
  readonly incarnation: Incarnation;
  readonly leftMs: number;
};

/** Hears one call to its end: the plugin's result, its death, the end of its time, or the caller's abort. */
async function hearCall(hearing: Hearing, call: ToolCall, context: ToolContext): Promise<Result<ToolOutcome>> {
  const { incarnation, tool, manifest } = hearing;
  // Leaving the loop does not cancel the call at the plugin; only this does.
  const end = new AbortController();
  const over = Promise.withResolvers<Heard | { readonly is: "died"; readonly how: string }>();
  const forgetExit = incarnation.onExit((exit) => over.resolve({ is: "died", how: sayExit(exit) }));
  void hearStream(incarnation.link.callTool(call, end.signal), context.progress, () => end.signal.aborted).then(
    over.resolve,
  );
  try {
    const first = await waitFor(over.promise, hearing.leftMs, context.signal);
    if (first.came === "abort") return fail("cancelled", `the call of ${tool.fullName} was cancelled`);
    if (first.came === "timeout") {
      void killIfSilent(hearing);
      return fail("timed_out", `${tool.fullName} did not finish within ${tool.timeoutMs} ms`, {
        hint: `ask it for less, or raise timeoutMs of "${tool.name}" in the plugin's plugin.json`,
      });
    }
    switch (first.value.is) {
      case "result":
        return ok(outcomeOf(manifest, tool, first.value.result));
      case "nonsense":
        return fail("invalid", `plugin "${manifest.name}" ${first.value.problem} for a call of "${tool.name}"`, {
          hint: "this is a mistake of the plugin; tell its author",
        });
      case "died":
        return deathFailure(hearing, first.value.how);
      case "error":
        return await judgeError(hearing, first.value.cause);
    }
  } finally {
    forgetExit();
    end.abort();
  }
}

type Heard =
  | { readonly is: "result"; readonly result: ToolResult }
  | { readonly is: "nonsense"; readonly problem: string }
  | { readonly is: "error"; readonly cause: unknown };

/** Reads the stream; never rejects. Once the result is there, nothing but a second message can spoil it. */
async function hearStream(
  stream: AsyncIterable<ToolNews>,
  progress: (line: string) => void,
  isOver: () => boolean,
): Promise<Heard> {
  const messages = stream[Symbol.asyncIterator]();
  let lines = 0;
  try {
    for (;;) {
      const next = await messages.next();
      if (next.done === true) return { is: "nonsense", problem: "ended the stream without a result" };
      const news = next.value;
      if (isOver()) return { is: "nonsense", problem: "answered too late" };
      if (news.kind === "progress") {
        if (lines++ < MAX_PROGRESS_LINES) progress(news.text.slice(0, MAX_PROGRESS_CHARS));
      } else if (news.kind === "result") {
        const after = await waitFor(messages.next(), AFTER_RESULT_MS).catch(() => undefined);
        const more = after?.came === "value" && after.value.done !== true;
        return more ? { is: "nonsense", problem: "sent more after its result" } : { is: "result", result: news.result };
      }
    }
  } catch (cause) {
    return { is: "error", cause };
  }
}

/** An error of the transport, when it was not us who ended the call: most often the process is dying. */
async function judgeError(hearing: Hearing, cause: unknown): Promise<Result<never>> {
  const { manifest, tool, incarnation } = hearing;
  if (cause instanceof LinkError && cause.kind === "too large") {
    return fail(
      "exhausted",
      `${tool.fullName} exchanged a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`,
      {
        hint: "ask for less at once, or let the plugin write a file",
        cause,
      },
    );
  }
  const exit = await waitFor(incarnation.exited, EXIT_GRACE_MS);
  if (exit.came === "value") return deathFailure(hearing, sayExit(exit.value));
  return fail(
    "unavailable",
    `plugin "${manifest.name}" broke off the call of "${tool.name}": ${cause instanceof Error ? cause.message : String(cause)}`,
    {
      hint: `see what it wrote with: claw plugin logs ${manifest.name}`,
      cause,
    },
  );
}

function deathFailure({ manifest, tool, log }: Hearing, how: string): Result<never> {
  const errors = log.lastErrors();
  const words = errors === "" ? "" : `its last words: ${errors}; `;
  return fail("unavailable", `plugin "${manifest.name}" ${how} during the call of "${tool.name}"`, {
    hint: `${words}whether the call took effect is unknown; the next call starts the plugin again`,
  });
}

/** A process that serves nobody any more is killed, so that the next call finds a fresh one. */
async function killIfSilent({ incarnation, log }: Hearing): Promise<void> {
  if (await incarnation.link.answers(LIFE_SIGN_MS)) return;
  log.add("host", `killed: no sign of life within ${LIFE_SIGN_MS} ms after a call ran out of time`);
  incarnation.kill();
}

function outcomeOf(manifest: PluginManifest, tool: PluginTool, { parts, failure }: ToolResult): ToolOutcome {
  const output = parts.map((part) => (part.kind === "text" ? part.text : `[artifact ${part.artifactId}]`)).join("\n");
  if (failure === undefined) return { status: "done", output };
  const { code, hint } = failure;
  const message = `"${tool.name}" of plugin "${manifest.name}" failed: ${failure.message.slice(0, 500)}`;
  return { status: "failed", output, failure: { code, message, ...(hint === "" ? {} : { hint }) } };
}

function sayFailure({ message, hint }: Failure): string {
  return hint === undefined ? message : `${message} (${hint})`;
}
