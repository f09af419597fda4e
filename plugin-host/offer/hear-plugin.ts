import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { CallQueue } from "../life/call-queue.ts";
import type { Incarnation } from "../life/incarnation.ts";
import { exitBehind } from "../link/exit-behind.ts";
import { MAX_MESSAGE_BYTES } from "../link/plugin-client.ts";
import { LinkError, type PluginLink } from "../link/plugin-link.ts";
import { sayExit } from "../link/start-outcome.ts";
import { type Waited, waitFor } from "../link/wait.ts";
import { killIfSilent } from "./life-sign.ts";
import type { OfferParts } from "./offer-parts.ts";

/** Something that a plugin is asked for, other than a call of a tool. */
export type Question<T> = {
  /** For people, e.g. `embedder "hash-256"`. */
  readonly what: string;
  /** Places for this kind of question. Kinds do not share places: one may be asked while another waits for it. */
  readonly queue: CallQueue;
  /** How long the plugin may be silent, and how long the question may wait for its place, milliseconds. */
  readonly silenceMs: number;
  /** How long all of the answer may take, milliseconds. */
  readonly wholeMs: number;
  readonly ask: (link: PluginLink, signal: AbortSignal) => AsyncIterable<T>;
};

/**
 * Asks a plugin, whose process is started if need be, and gives what it answers piece by piece. Never throws: a failure
 * is the last item. Whoever leaves early cancels the question at the plugin.
 */
export async function* hearPlugin<T>(
  parts: OfferParts,
  question: Question<T>,
  signal: AbortSignal,
): AsyncGenerator<Result<T>, void, undefined> {
  const place = await question.queue.enter(question.silenceMs, signal);
  if (!place.ok) {
    yield place;
    return;
  }
  try {
    const held = await parts.supervisor.acquire(signal);
    if (!held.ok) {
      yield held;
      return;
    }
    try {
      yield* hearProcess(parts, held.value.incarnation, question, signal);
    } finally {
      held.value.release();
    }
  } finally {
    place.value();
  }
}

/** The same for a question with one answer. */
export async function askPlugin<T>(
  parts: OfferParts,
  question: Omit<Question<T>, "ask" | "wholeMs"> & {
    readonly ask: (link: PluginLink, signal: AbortSignal) => Promise<T>;
  },
  signal: AbortSignal,
): Promise<Result<T>> {
  const ask = async function* (link: PluginLink, end: AbortSignal) {
    yield await question.ask(link, end);
  };
  for await (const answer of hearPlugin(parts, { ...question, wholeMs: question.silenceMs, ask }, signal))
    return answer;
  throw new Error("a question with one answer ended without one");
}

type Heard<T> =
  | { readonly is: "news"; readonly next: IteratorResult<T> }
  | { readonly is: "error"; readonly cause: unknown }
  | { readonly is: "died"; readonly how: string };

async function* hearProcess<T>(
  parts: OfferParts,
  incarnation: Incarnation,
  { what, silenceMs, wholeMs, ask }: Question<T>,
  signal: AbortSignal,
): AsyncGenerator<Result<T>, void, undefined> {
  const { log, manifest, now } = parts;
  const endMs = now() + wholeMs;
  // Leaving the loop does not cancel the stream at the plugin; only this does.
  const end = new AbortController();
  let death: Heard<T> | undefined;
  let tell: (heard: Heard<T>) => void = () => {};
  const forgetExit = incarnation.onExit((exit) => {
    death = { is: "died", how: sayExit(exit) };
    tell(death);
  });
  const news = ask(incarnation.link, end.signal)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<Heard<T>>();
      tell = resolve;
      if (death !== undefined) resolve(death);
      news.next().then(
        (next) => resolve({ is: "news", next }),
        (cause: unknown) => resolve({ is: "error", cause }),
      );
      const leftMs = endMs - now();
      // News that are always there already would never let a timer come.
      const waited: Waited<Heard<T>> =
        leftMs > 0 ? await waitFor(promise, Math.min(silenceMs, leftMs), signal) : { came: "timeout" };
      if (waited.came === "abort") {
        yield fail("cancelled", `${what} of plugin "${manifest.name}" was not waited for any longer`);
        return;
      }
      if (waited.came === "timeout") {
        void killIfSilent(incarnation, log);
        const how = now() < endMs ? `said nothing for ${silenceMs / 1000} s` : `was not done after ${wholeMs / 1000} s`;
        yield fail("timed_out", `${what} of plugin "${manifest.name}" ${how}`, {
          hint: `see what it wrote with: claw plugin logs ${manifest.name}`,
        });
        return;
      }
      const heard = waited.value;
      if (heard.is === "news") {
        if (heard.next.done === true) return;
        yield ok(heard.next.value);
      } else {
        yield await judgeEnd(parts, incarnation, what, heard);
        return;
      }
    }
  } finally {
    forgetExit();
    end.abort();
  }
}

async function judgeEnd(
  { manifest, log }: OfferParts,
  incarnation: Incarnation,
  what: string,
  heard: Exclude<Heard<never>, { is: "news" }>,
): Promise<Result<never>> {
  const died = (how: string) => {
    const errors = log.lastErrors();
    const words = errors === "" ? "" : `its last words: ${errors}; `;
    return fail("unavailable", `plugin "${manifest.name}" ${how} while it was asked for ${what}`, {
      hint: `${words}the next time it is started again`,
    });
  };
  if (heard.is === "died") return died(heard.how);
  const { cause } = heard;
  if (cause instanceof LinkError && cause.kind === "unserved") {
    return fail("invalid", `plugin "${manifest.name}" declares ${what}, but does not serve it`, {
      hint: "this is a mistake of the plugin; tell its author",
      cause,
    });
  }
  if (cause instanceof LinkError && cause.kind === "too large") {
    const limit = `${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`;
    return fail("exhausted", `${what} of plugin "${manifest.name}" needed a message of more than ${limit}`, {
      hint: "ask for less at once",
      cause,
    });
  }
  const exit = await exitBehind(cause, incarnation.exited);
  if (exit !== undefined) return died(sayExit(exit));
  const why = cause instanceof Error ? cause.message : String(cause);
  return fail("unavailable", `${what} of plugin "${manifest.name}" failed: ${why.slice(0, 500)}`, {
    hint: `see what it wrote with: claw plugin logs ${manifest.name}`,
    cause,
  });
}

/** What a plugin did against the protocol. */
export function brokeContract({ manifest }: OfferParts, what: string, problem: string): Result<never> {
  return fail("invalid", `${what} of plugin "${manifest.name}" ${problem}`, {
    hint: "this is a mistake of the plugin; tell its author",
  });
}
