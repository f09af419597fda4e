import type { Socket } from "node:net";
import type { FailureCode } from "../../core/domain/failure.ts";
import { IDLE_LIMIT_MS, type ProxyDial } from "./proxy-dial.ts";
import { joinSockets } from "./tunnel.ts";

/** RFC 1928. */
export const SOCKS_VERSION = 5;
const NO_AUTHENTICATION = 0;
const NO_METHOD = 0xff;
const CONNECT = 1;
const REPLY = { done: 0, broken: 1, denied: 2, unreachable: 4, noSuchCommand: 7, noSuchAddress: 8 } as const;
/** "0.0.0.0:0": where the connection leaves from is nobody's business. */
const NO_ADDRESS = [1, 0, 0, 0, 0, 0, 0];

/** Serves one connection: one CONNECT without authentication, then a tunnel. */
export async function serveSocks(inner: Socket, dial: ProxyDial): Promise<void> {
  inner.on("error", () => inner.destroy());
  const answer = (reply: number) => inner.write(Uint8Array.from([SOCKS_VERSION, reply, 0, ...NO_ADDRESS]));
  const giveUp = (reply: number) => {
    answer(reply);
    inner.end();
  };
  const [version, methods = 0] = await take(inner, 2);
  const offered = await take(inner, methods);
  if (version !== SOCKS_VERSION || !offered.includes(NO_AUTHENTICATION)) {
    inner.end(Uint8Array.from([SOCKS_VERSION, NO_METHOD]));
    return;
  }
  inner.write(Uint8Array.from([SOCKS_VERSION, NO_AUTHENTICATION]));
  const [again, command, , kind] = await take(inner, 4);
  if (again !== SOCKS_VERSION || command !== CONNECT) return giveUp(REPLY.noSuchCommand);
  const host = await takeHost(inner, kind);
  if (host === undefined) return giveUp(REPLY.noSuchAddress);
  const port = (await take(inner, 2)).readUInt16BE();
  const dialled = await dial(host, port);
  if (!dialled.ok) return giveUp(replyFor(dialled.failure.code));
  if (!inner.writable) return void dialled.value.destroy();
  answer(REPLY.done);
  joinSockets(inner, dialled.value, IDLE_LIMIT_MS);
}

async function takeHost(inner: Socket, kind: number | undefined): Promise<string | undefined> {
  switch (kind) {
    case 1:
      return [...(await take(inner, 4))].join(".");
    case 3: {
      const [length = 0] = await take(inner, 1);
      return (await take(inner, length)).toString("latin1");
    }
    case 4: {
      const bytes = await take(inner, 16);
      return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(":");
    }
    default:
      return undefined;
  }
}

/** Exactly so many bytes; rejects when the connection ends before. */
function take(inner: Socket, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const chunk: Buffer | null = bytes === 0 ? Buffer.alloc(0) : inner.read(bytes);
      if (chunk !== null && chunk.byteLength === bytes) settle(() => resolve(chunk));
      else if (inner.readableEnded || inner.destroyed || chunk !== null) settle(() => reject(new Error("cut short")));
    };
    const settle = (how: () => void) => {
      inner.removeListener("readable", look).removeListener("end", look).removeListener("close", look);
      how();
    };
    inner.on("readable", look).on("end", look).on("close", look);
    look();
  });
}

function replyFor(code: FailureCode): number {
  switch (code) {
    case "denied":
      return REPLY.denied;
    case "invalid":
      return REPLY.noSuchAddress;
    case "unavailable":
    case "timed_out":
      return REPLY.unreachable;
    default:
      return REPLY.broken;
  }
}
