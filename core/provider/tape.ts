import { type Failure, fail, type Result } from "../domain/failure.ts";
import type { Chunk, Prompt, Provider } from "../domain/provider.ts";
import { type Asked, differences, digester, type PromptDigest } from "./prompt-digest.ts";
import { isLast, loadTape, type TapeStep, type TapeWriter } from "./tape-file.ts";

/**
 * The same provider, with every call that came to an end put on a tape, failures included. An interrupted call is not
 * recorded: it was the person who ended it. A call that cannot be recorded fails at its end, because a tape with a hole
 * replays something that never happened.
 */
export function recordTape(provider: Provider, tape: TapeWriter, nowMs: () => number): Provider {
  const digests = digester();

  async function* stream(prompt: Prompt, signal: AbortSignal): AsyncGenerator<Chunk> {
    const startedMs = nowMs();
    const chunks: [number, Chunk][] = [];
    for await (const chunk of provider.stream(prompt, signal)) {
      chunks.push([Math.round(nowMs() - startedMs), withoutCause(chunk)]);
      if (isLast(chunk) && !(chunk.kind === "failed" && chunk.failure.code === "cancelled")) {
        const model = prompt.model || provider.defaultModel;
        const step: TapeStep = { provider: provider.name, model, ...digests.of(prompt), chunks };
        const written = await tape.append(JSON.stringify(step));
        if (!written.ok) {
          yield { kind: "failed", failure: written.failure };
          return;
        }
      }
      yield chunk;
    }
  }

  return { ...provider, stream };
}

/**
 * Plays a tape, offline and as fast as it is read. Calls are expected in the order of the tape; a prompt that stands
 * somewhere else on it (a session begun again, a daemon started again) finds its own place. A prompt that stands nowhere
 * gives `conflict` and says what differs from the step that was due; behind the last step it gives `exhausted`.
 */
export function tapeProvider(file: string): Provider {
  const digests = digester();
  let loading: Promise<Result<readonly TapeStep[]>> | undefined;
  let due = 0;

  async function* stream(prompt: Prompt, signal: AbortSignal): AsyncGenerator<Chunk> {
    loading ??= loadTape(file);
    const tape = await loading;
    if (!tape.ok) {
      // It may be repaired or put there in the meantime.
      loading = undefined;
      yield { kind: "failed", failure: tape.failure };
      return;
    }
    const asked = digests.of(prompt);
    const at = findStep(tape.value, asked.digest, due);
    const step = tape.value[at];
    if (step === undefined) {
      yield { kind: "failed", failure: missedStep(file, tape.value, due, asked) };
      return;
    }
    due = at + 1;
    for (const [, chunk] of step.chunks) {
      if (signal.aborted) {
        yield { kind: "failed", failure: { code: "cancelled", message: "the replay was interrupted" } };
        return;
      }
      yield chunk;
    }
  }

  return { name: "tape", defaultModel: file, stream };
}

/** The step that is due when the prompt fits it, else the next one that fits, else the first one from the start; -1 for none. */
function findStep(steps: readonly TapeStep[], asked: PromptDigest, due: number): number {
  const fits = (step: TapeStep) => differences(step.digest, asked).length === 0;
  const ahead = steps.slice(due).findIndex(fits);
  return ahead === -1 ? steps.findIndex(fits) : due + ahead;
}

function missedStep(file: string, steps: readonly TapeStep[], due: number, asked: Asked): Failure {
  const step = steps[due];
  if (step === undefined) {
    const message = `the tape ${file} is at its end after ${steps.length} calls, and holds none like this one`;
    return fail("exhausted", message, { hint: "record a longer tape, or choose another provider with --model" })
      .failure;
  }
  const parts = differences(step.digest, asked.digest);
  const heard = parts.includes("the last message") ? `: it heard "${step.heard}", now it is "${asked.heard}"` : "";
  const message = `step ${due + 1} of the tape ${file} was asked something else; what differs: ${parts.join(", ")}${heard}`;
  return fail("conflict", message, { hint: "say and set up exactly what was recorded, or record the tape anew" })
    .failure;
}

/** A cause is whatever somebody threw: no data. */
function withoutCause(chunk: Chunk): Chunk {
  if (chunk.kind !== "failed") return chunk;
  const { code, message, hint } = chunk.failure;
  return { kind: "failed", failure: { code, message, ...(hint === undefined ? {} : { hint }) } };
}
