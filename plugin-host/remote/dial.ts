import { connect, type Socket } from "node:net";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Clock } from "../life/clock.ts";
import { letPass } from "../life/clock.ts";
import { readAddress } from "./token.ts";

const CONNECT_LIMIT_MS = 10_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 60_000;
/** A connection that lived so long was a good one: the next wait is short again. */
const SETTLED_MS = 30_000;

/** A plain connection to "HOST:PORT". */
export function dial(address: string, signal: AbortSignal): Promise<Result<Socket>> {
  const at = readAddress(address);
  if (!at.ok) return Promise.resolve(at);
  const { promise, resolve } = Promise.withResolvers<Result<Socket>>();
  const socket = connect({ host: at.value.host, port: at.value.port });
  const refuse = (why: string, cause?: unknown) => {
    settle();
    socket.destroy();
    resolve(fail("unavailable", `${address} cannot be reached: ${why}`, { cause }));
  };
  const onAbort = () => refuse("it is not wanted any more");
  const timer = setTimeout(() => refuse("it does not answer"), CONNECT_LIMIT_MS);
  const settle = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  socket.on("error", (cause) => refuse(cause.message, cause));
  socket.once("connect", () => {
    settle();
    resolve(ok(socket));
  });
  return promise;
}

export type RepeatParts = {
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly jitter: () => number;
  readonly signal: AbortSignal;
};

/** Does something again and again until the signal aborts, with pauses that grow, fully jittered, while it does not last. */
export async function repeat(attempt: () => Promise<void>, { clock, jitter, signal }: RepeatParts): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const beganMs = clock.now();
    await attempt();
    failures = clock.now() - beganMs >= SETTLED_MS ? 0 : failures + 1;
    const limitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 16));
    await letPass(clock, jitter() * limitMs, signal);
  }
}
