import type { Socket } from "node:net";
import type { Result } from "../../core/domain/failure.ts";
import type { FetchAnswer, FetchOrder } from "../guest/guest-protocol.ts";
import type { AddressJudge } from "./address-judge.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { dialHost, type Resolve } from "./dial.ts";
import { fetchHops } from "./fetch-hops.ts";
import { slotsByUser } from "./slots.ts";
import { type EgressSocket, openSocket, type SocketOrder } from "./web-socket.ts";

/** For one fetch, all its hops, or one dial; the time that a judge takes does not count. */
const TIME_LIMIT_MS = 10_000;
/** Of one judge at once. */
const LOOKUPS_LIMIT = 4;

export type EgressOptions = {
  /** Addresses of a host, in the order to try; the system's own look-up when absent. May reject. */
  readonly resolve?: Resolve;
  /** The addresses of this machine's own interfaces, now. */
  readonly ownAddresses: () => readonly string[];
  /** A certificate authority (PEM) to trust beside the usual ones. */
  readonly extraCa?: string;
};

/**
 * The way to the network for code that has none of its own: it looks up, judges and dials. Proxies that the daemon's
 * environment names mean nothing to it.
 */
export type Egress = {
  /**
   * One request; redirects are followed here and each hop is judged anew. Fails with `invalid` (nothing that is fetched at
   * all), `denied` (message and hint are the judge's), `unavailable`, `exhausted` (4 MiB each way, 5 redirects), `timed_out`
   * (10 s) or `cancelled`; rejects only with what the judge rejects with. How many go at once is the caller's to limit.
   */
  fetch(order: FetchOrder, judge: AddressJudge, signal: AbortSignal): Promise<Result<FetchAnswer>>;
  /**
   * A TCP connection to one judged address of a host, which the caller must close; either side may end its half first.
   * Fails with `invalid`, `denied`, `unavailable`, `timed_out` (10 s) or `cancelled`.
   */
  dial(host: string, port: number, judge: AddressJudge, signal: AbortSignal): Promise<Result<Socket>>;
  /**
   * A WebSocket over a connection of its own, which the caller must close. Fails with `invalid`, `denied`, `unavailable`,
   * `timed_out` (10 s) or `cancelled`.
   */
  socket(order: SocketOrder, judge: AddressJudge, signal: AbortSignal): Promise<Result<EgressSocket>>;
  /** Gives up what is under way, and everything that is asked later. A connection that was handed out stays. */
  close(): void;
};

export function openEgress(options: EgressOptions): Egress {
  const closing = new AbortController();
  const lookups = slotsByUser(LOOKUPS_LIMIT);

  async function within<T>(signal: AbortSignal, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    const deadline = startDeadline(TIME_LIMIT_MS, AbortSignal.any([signal, closing.signal]));
    try {
      return await work(deadline);
    } finally {
      deadline.stop();
    }
  }

  return {
    fetch: (order, judge, signal) =>
      within(signal, (deadline) => fetchHops(order, { ...options, judge, deadline, lookups })),
    dial: (host, port, judge, signal) =>
      within(signal, (deadline) => dialHost(host, port, { ...options, judge, deadline, lookups })),
    socket: (order, judge, signal) =>
      within(signal, (deadline) => openSocket(order, { ...options, judge, deadline, lookups })),
    close: () => closing.abort(),
  };
}
