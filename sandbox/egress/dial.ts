import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { type Failed, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Denied } from "../permission/grant.ts";
import { normalizeHost } from "../permission/host.ts";
import { embeddedIp, printIp, readIp } from "../permission/ip.ts";
import type { AddressJudge } from "./address-judge.ts";
import { type Deadline, orAbort } from "./deadline.ts";
import type { Slots } from "./slots.ts";

/** How long one of several addresses may take before the next is tried. */
const ATTEMPT_LIMIT_MS = 3_000;
/** A name with more answers than this is tried at its first ones. */
const ADDRESSES_LIMIT = 16;

export type Resolve = (host: string) => Promise<readonly string[]>;

export type DialParts = {
  readonly resolve?: Resolve;
  readonly ownAddresses: () => readonly string[];
  readonly judge: AddressJudge;
  readonly deadline: Deadline;
  /** A few look-ups of one user at once: they take threads that the whole daemon shares. */
  readonly lookups: (user: object) => Slots;
};

/** Looks a host up once, has each answer judged, and dials exactly one that was found good. See `Egress.dial`. */
export async function dialHost(host: string, port: number, parts: DialParts): Promise<Result<Socket>> {
  const name = normalizeHost(host);
  if (name === undefined) return fail("invalid", `${JSON.stringify(host)} is not a host`);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return fail("invalid", `${port} is not a port`);
  const { deadline, judge } = parts;
  try {
    const denied = await deadline.uncounted(() => judge.name(name, port));
    if (denied) return refuse(denied);
    const addresses = await findAddresses(name, parts);
    return addresses.ok ? await dialFirst(name, addresses.value, port, parts) : addresses;
  } catch (cause) {
    if (!deadline.signal.aborted) throw cause;
    return gaveUp(`the connection to ${name}:${port}`, deadline, cause);
  }
}

/** What came of work that its deadline cut off. */
export function gaveUp(what: string, deadline: Deadline, cause: unknown): Failed {
  return deadline.isOver()
    ? fail("timed_out", `${what} took too long`, { hint: "try again later, or ask for less", cause })
    : fail("cancelled", `${what} was given up`, { cause });
}

async function findAddresses(name: string, parts: DialParts): Promise<Result<readonly string[]>> {
  if (isIP(name) !== 0) return ok([name]);
  return parts.lookups(parts.judge).take(parts.deadline.signal, () => lookUp(name, parts));
}

/** Rejects when the deadline is over. */
async function lookUp(name: string, { resolve, deadline }: DialParts): Promise<Result<readonly string[]>> {
  let answers: readonly string[];
  try {
    deadline.signal.throwIfAborted();
    answers = await orAbort((resolve ?? systemLookup)(name), deadline.signal);
  } catch (cause) {
    deadline.signal.throwIfAborted();
    const hint = "check the name, and whether this machine can look names up";
    return fail("unavailable", `${name} was not found`, { hint, cause });
  }
  // A zone ("fe80::1%eth0") is no part of an address, and what the resolver says is a stranger's word.
  const addresses = answers
    .map((answer) => normalizeHost(answer))
    .filter((one) => one !== undefined && isIP(one) !== 0);
  const distinct = [...new Set(addresses)].slice(0, ADDRESSES_LIMIT) as string[];
  return distinct.length > 0 ? ok(distinct) : fail("unavailable", `${name} has no address`);
}

/** The IPv4 address that an IPv6 one stands for: a packet to it may arrive there. Otherwise the address itself. */
function carriedAddress(address: string): string {
  const ip = readIp(normalizeHost(address) ?? "");
  return ip ? printIp(embeddedIp(ip)) : address;
}

async function systemLookup(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
}

async function dialFirst(
  name: string,
  addresses: readonly string[],
  port: number,
  { judge, deadline, ownAddresses }: DialParts,
): Promise<Result<Socket>> {
  const own = new Set(ownAddresses().map(carriedAddress));
  let refusal: Denied | undefined;
  let failure: Failed | undefined;
  for (const [index, ip] of addresses.entries()) {
    const denied = await deadline.uncounted(() => judge.address(name, ip, port, own.has(carriedAddress(ip))));
    if (denied) {
      refusal ??= denied;
      continue;
    }
    const isLast = index === addresses.length - 1;
    const dialled = await dialAddress(ip, port, deadline.signal, isLast ? undefined : ATTEMPT_LIMIT_MS);
    if (dialled.ok) return dialled;
    failure = dialled;
  }
  if (failure) return failure;
  return refusal ? refuse(refusal) : fail("unavailable", `${name} has no address`);
}

/** Rejects when the signal is aborted. */
function dialAddress(
  ip: string,
  port: number,
  signal: AbortSignal,
  limitMs: number | undefined,
): Promise<Result<Socket>> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({ host: ip, port, noDelay: true, allowHalfOpen: true, autoSelectFamily: false });
    // Stays on: an error between two owners must not take the daemon down.
    socket.on("error", () => {});
    const timer = limitMs === undefined ? undefined : setTimeout(() => end(tooSlow()), limitMs);
    const tooSlow = () => fail("unavailable", `${ip} port ${port} does not answer`);
    const stop = () => {
      clear();
      socket.destroy();
      reject(signal.reason);
    };
    const clear = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      socket.removeListener("error", onError).removeListener("connect", onConnect);
    };
    const end = (result: Result<Socket>) => {
      clear();
      if (!result.ok) socket.destroy();
      resolve(result);
    };
    const onConnect = () => end(ok(socket));
    const onError = (cause: NodeJS.ErrnoException) =>
      end(fail("unavailable", `${ip} port ${port} cannot be reached (${cause.code ?? cause.message})`, { cause }));
    socket.once("connect", onConnect).once("error", onError);
    signal.addEventListener("abort", stop, { once: true });
  });
}

function refuse({ message, hint }: Denied): Failed {
  return fail("denied", message, { hint });
}
