import type { JsonObject } from "@bufbuild/protobuf";
import type { Artifact } from "../../core/domain/artifact.ts";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import { showableLine } from "../../core/domain/showable.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../core/domain/tool.ts";
import type { Incarnation } from "../life/incarnation.ts";
import { exitBehind } from "../link/exit-behind.ts";
import type { LogRing } from "../link/log-ring.ts";
import { MAX_MESSAGE_BYTES } from "../link/plugin-client.ts";
import { LinkError, type ToolCall, type ToolResult } from "../link/plugin-link.ts";
import { sayExit } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import type { PluginTool } from "../manifest/tools.ts";
import { type CallOutput, collectOutput, OUTPUT_LIMIT_BYTES } from "./call-output.ts";
import { type HeardCall, hearCallStream } from "./call-stream.ts";
import { killIfSilent } from "./life-sign.ts";
import type { OfferParts } from "./offer-parts.ts";
import { type ProgressPace, paceProgress } from "./progress-pace.ts";
import { withRetryClass } from "./retry-class.ts";

/** Of the id that a plugin gives, for the case that it is none. */
const ARTIFACT_ID_LIMIT_CHARS = 64;

/** A plugin's tool as the daemon sees it. Its process is started by the first call. */
export function makePluginTool(parts: OfferParts, declared: PluginTool): Tool {
  const { category, note, workspace } = parts.manifest.toolStyle;
  const { edition, unsettled } = declared;
  return {
    name: declared.fullName,
    description: note + declared.description,
    input: declared.input,
    aliases: [],
    category,
    rerun: declared.rerun,
    ...(edition === "" ? {} : { edition }),
    ...(unsettled === "" ? {} : { unsettled }),
    ...(workspace === undefined ? {} : { workspace }),
    // The declared time is for the tool itself; the start of its process has its own.
    timeoutMs: declared.timeoutMs + parts.manifest.startTimeoutMs,
    needs: () => [{ kind: "tool", name: declared.fullName }],
    run: async (args, context) => {
      const result = await runTool(parts, declared, args, context);
      const outcome: ToolOutcome = result.ok
        ? result.value
        : { status: "failed", output: sayFailure(result.failure), failure: result.failure };
      if (category !== "mcp" || outcome.status === "done") return outcome;
      return { ...outcome, failure: withRetryClass(outcome.failure) };
    },
  };
}

async function runTool(
  { manifest, supervisor, queue, calls, artifact, log, now }: OfferParts,
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
    const output = collectOutput();
    const pace = paceProgress(context.progress, output.takeLines);
    const callId = calls.freeId(context.callId);
    const close = calls.open({ ...context, callId, progress: pace.line });
    const { sessionId, workspace } = context;
    const call = { callId, sessionId, workspace, tool: tool.name, args, timeLimitMs: leftMs };
    try {
      return await hearCall({ manifest, tool, log, incarnation, leftMs, output, pace, artifact }, call, context.signal);
    } finally {
      pace.end();
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
  readonly output: CallOutput;
  readonly pace: ProgressPace;
  readonly artifact: OfferParts["artifact"];
};

/** Hears one call to its end: the plugin's result, its death, the end of its time, or the caller's abort. */
async function hearCall(hearing: Hearing, call: ToolCall, signal: AbortSignal): Promise<Result<ToolOutcome>> {
  const { incarnation, tool, manifest, output, pace, log } = hearing;
  // Leaving the loop does not cancel the call at the plugin; only this does.
  const end = new AbortController();
  const over = Promise.withResolvers<HeardCall | { readonly is: "died"; readonly how: string }>();
  const forgetExit = incarnation.onExit((exit) => over.resolve({ is: "died", how: sayExit(exit) }));
  const news = incarnation.link.callTool(call, end.signal);
  void hearCallStream(news, output, pace, () => end.signal.aborted).then(over.resolve);
  try {
    const first = await waitFor(over.promise, hearing.leftMs, signal);
    if (first.came === "abort") return fail("cancelled", `the call of ${tool.fullName} was cancelled`);
    if (first.came === "timeout") {
      void killIfSilent(incarnation, log);
      return fail("timed_out", `${tool.fullName} did not finish within ${tool.timeoutMs} ms`, {
        hint: `ask it for less, or raise timeoutMs of "${tool.name}" in the plugin's plugin.json`,
      });
    }
    switch (first.value.is) {
      case "result":
        return ok(await outcomeOf(hearing, first.value.result));
      case "flood":
        return fail("exhausted", `${tool.fullName} put out more than ${OUTPUT_LIMIT_BYTES / 1024 / 1024} MiB`, {
          hint: "ask it for less, or let the plugin write a file",
        });
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
  const exit = await exitBehind(cause, incarnation.exited);
  if (exit !== undefined) return deathFailure(hearing, sayExit(exit));
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

/** What was put out before the result comes first. */
async function outcomeOf(hearing: Hearing, { parts, failure }: ToolResult): Promise<ToolOutcome> {
  const { manifest, tool } = hearing;
  const texts: string[] = [];
  const artifacts: Artifact[] = [];
  for (const part of parts) {
    if (part.kind === "text") texts.push(part.text);
    else texts.push(await nameArtifact(hearing, part.artifactId, artifacts));
  }
  const before = hearing.output.print();
  const result = texts.filter((text) => text !== "").join("\n");
  const output = before === "" || result === "" || before.endsWith("\n") ? before + result : `${before}\n${result}`;
  const given = artifacts.length === 0 ? {} : { artifacts };
  if (failure === undefined) return { status: "done", output, ...given };
  const { code, hint, category, retryable } = failure;
  const message = `"${tool.name}" of plugin "${manifest.name}" failed: ${failure.message.slice(0, 500)}`;
  const finer = category === "" ? {} : { category, retryable };
  return {
    status: "failed",
    output,
    ...given,
    failure: { code, message, ...(hint === "" ? {} : { hint }), ...finer },
  };
}

/** Its bytes are for later; the model learns that they are there. */
async function nameArtifact({ artifact, manifest }: Hearing, artifactId: string, named: Artifact[]): Promise<string> {
  const id = showableLine(artifactId.slice(0, ARTIFACT_ID_LIMIT_CHARS));
  const facts = await artifact(artifactId);
  if (!facts.ok) return `[artifact ${id}, which is not there]`;
  const { mimeType, sizeBytes } = facts.value;
  named.push({ artifactId, plugin: manifest.name, mimeType, sizeBytes });
  return `[artifact ${id}, ${mimeType}, ${sizeBytes.toLocaleString("en-US")} bytes]`;
}

function sayFailure({ message, hint }: Failure): string {
  return hint === undefined ? message : `${message} (${hint})`;
}
