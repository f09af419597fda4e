import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { grantJudge } from "../egress/address-judge.ts";
import type { Egress } from "../egress/egress.ts";
import { createEgressProxy, type EgressProxy } from "../egress/egress-proxy.ts";
import { bypassOf } from "../egress/proxy-bypass.ts";
import type { FilteredNetwork } from "./launcher.ts";

/** What children with a filtered network need of the daemon. */
export type NetworkDoor = {
  readonly egress: Pick<Egress, "dial">;
  /** The program that passes connections on inside a sandbox, bundled into one file. */
  readonly forwarderFile: string;
  /** For the proxies' sockets, and for nobody else; made with mode 0700, emptied first. Its path should be short: at most 90 bytes. */
  readonly socketsDir: string;
};

/** Where the child's forwarder finds its things. `/dev` is the sandbox's own at every launch, so that nothing of the machine is in the way. */
const INSIDE = "/dev/clawd";
const FORWARDER = { node: `${INSIDE}/node`, file: `${INSIDE}/forwarder.cjs`, socket: `${INSIDE}/proxy.sock` } as const;
const FORWARDER_PORT = 3128;
/** It passes bytes on; a compiler and large heaps would be wasted on it. */
const FORWARDER_FLAGS = ["--jitless", "--max-old-space-size=32", "--max-semi-space-size=1", "--v8-pool-size=1"];

/** The least that the limits of its child must leave it, because they hold for it too. */
export const FORWARDER_NEEDS = { processes: 12, dataMib: 64, addressSpaceMib: 1024 } as const;

/** The proxy of one child on a unix socket, and how the child's sandbox gets to it. */
export type SandboxProxy = {
  /** bwrap's options that show the child the forwarder and the socket. */
  readonly mounts: readonly string[];
  /** The command that runs another one behind the forwarder. */
  wrap(command: readonly string[], pipes: number): readonly string[];
  close(): void;
};

/** The proxy of one child on the machine's loopback, for a child without a sandbox: it may use it or not. */
export type AdvisoryProxy = {
  readonly url: Promise<string>;
  readonly bypass: string;
  close(): void;
};

/** Opens proxies, one for each child. Without a door they throw. */
export type ProxyOpener = {
  inSandbox(network: FilteredNetwork): SandboxProxy;
  onLoopback(network: FilteredNetwork): AdvisoryProxy;
};

export function proxyOpener(door: NetworkDoor | undefined, nodeBinary: string): ProxyOpener {
  let socketsDir: string | undefined;

  function create({ grant, onDenied }: FilteredNetwork): EgressProxy {
    if (!door) throw new Error("a filtered network was asked for where none was set up");
    return createEgressProxy({ egress: door.egress, judge: grantJudge(grant), onDenied });
  }

  /** What lies there is of a daemon that was killed. */
  function makeSocketsDir(path: string): string {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  }

  return {
    inSandbox(network) {
      const proxy = create(network);
      socketsDir ??= makeSocketsDir(door?.socketsDir ?? "");
      const folder = mkdtempSync(join(socketsDir, "p-"));
      const close = () => {
        proxy.close();
        rmSync(folder, { recursive: true, force: true });
      };
      const socket = join(folder, "s");
      try {
        proxy.listenAt(socket);
      } catch (cause) {
        close();
        throw cause;
      }
      const shown = [
        [nodeBinary, FORWARDER.node],
        [door?.forwarderFile ?? "", FORWARDER.file],
        [socket, FORWARDER.socket],
      ] as const;
      const run = [FORWARDER.node, ...FORWARDER_FLAGS, FORWARDER.file, String(FORWARDER_PORT), FORWARDER.socket];
      return {
        mounts: shown.flatMap(([from, to]) => ["--ro-bind", from, to]),
        wrap: (command, pipes) => [...run, String(pipes), bypassOf(network.grant), ...command],
        close,
      };
    },
    onLoopback(network) {
      const proxy = create(network);
      const url = proxy.listenOnLoopback().then((port) => `http://127.0.0.1:${port}`);
      return { url, bypass: bypassOf(network.grant), close: proxy.close };
    },
  };
}
