import { Code, ConnectError } from "@connectrpc/connect";
import type { CallContext, Context } from "./definition.ts";
import type { HostLine } from "./host-client.ts";

export type Facts = Pick<Context, "config" | "granted" | "dataFolder">;

/** One life of a plugin: what everything that it serves is run with. */
export type Running = {
  readonly line: HostLine;
  /** What the host said at the start; the settings change when a person changes them. */
  facts: Facts;
  /** Aborts when the host is gone. */
  readonly gone: AbortSignal;
  /** Aborts when the host has said to end: what stands open for its own sake is closed. */
  readonly ending: AbortSignal;
  readonly work: Work;
};

/** What runs at this moment. */
export type Work = {
  /** To be ended by the value, once. Throws when the plugin takes nothing new. */
  begin(): () => void;
  /** From now on nothing new begins. */
  refuseMore(): void;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
};

export function createWork(): Work {
  let running = 0;
  let draining = false;
  let waiting: (() => void)[] = [];
  return {
    begin() {
      if (draining) throw new ConnectError("the plugin is about to end and takes nothing new", Code.Unavailable);
      running++;
      return () => {
        if (--running > 0) return;
        for (const resolve of waiting) resolve();
        waiting = [];
      };
    },
    refuseMore() {
      draining = true;
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}

/** For what belongs to no conversation. */
export function contextOf(running: Running, signal: AbortSignal): Context {
  return { ...running.facts, signal, host: running.line.host };
}

/** For what belongs to one. Progress goes to the host as a call of its own, unless the answer can carry it. */
export function callContextOf(
  running: Running,
  { callId, sessionId, workspace }: Pick<CallContext, "callId" | "sessionId" | "workspace">,
  signal: AbortSignal,
): CallContext {
  const host = running.line.forCall(callId);
  return {
    ...running.facts,
    signal,
    host,
    callId,
    sessionId,
    workspace,
    progress: (line) => {
      host.progress(line).catch((cause: unknown) => console.error("progress was not shown:", cause));
    },
  };
}

/** Waits for a promise, but no longer than `timeoutMs`. */
export async function atMost(timeoutMs: number, promise: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  try {
    await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}
