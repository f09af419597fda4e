import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import { machineClock } from "../life/clock.ts";
import { isName } from "../manifest/names.ts";
import type { RemotePlugins, RemoteRow, RemoteSettings } from "./remote-plugins.ts";

/** What words a plugin of another machine is called by where a path is expected. */
const PREFIX = "remote:";

export type RemoteDoorParts = RemoteSettings & {
  readonly dir: string;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly log: (line: string) => void;
  readonly onOffer: (name: string, folder: string) => Promise<void>;
};

/** The plugins of other machines, of which nothing is loaded before somebody enrols one. */
export type RemoteDoor = Pick<RemotePlugins, "launch" | "enrol" | "unenrol"> & {
  /** Opens the port and dials, where there is one or somebody to dial. Returns at once. */
  begin(): void;
  /** Why no process of a plugin can be started now; undefined when one can. */
  missing(name: string): Failure | undefined;
  hasServices(name: string): boolean;
  list(): readonly RemoteRow[];
  /** The folder that "remote:NAME" stands for; any other path is itself. `not_found` where no such agent has offered a plugin. */
  pathOf(words: string): Result<string>;
  /** What is wrong with all of it. */
  problem(): Failure | undefined;
  close(): Promise<void>;
};

export function openRemoteDoor(parts: RemoteDoorParts): RemoteDoor {
  const { dir, listen } = parts;
  let opening: Promise<Result<RemotePlugins>> | undefined;
  let opened: RemotePlugins | undefined;
  let problem: Failure | undefined;
  const open = () => {
    opening ??= (async () => {
      const { openRemotePlugins } = await import("./remote-plugins.ts");
      const result = await openRemotePlugins({ ...parts, clock: machineClock(parts.now) });
      if (result.ok) opened = result.value;
      else problem = result.failure;
      return result;
    })();
    return opening;
  };
  return {
    begin() {
      if (listen === "" && !existsSync(join(dir, "peers.json"))) return;
      open().then(
        ({ ok: isOpen }) => {
          if (!isOpen && problem !== undefined) parts.log(problem.message);
        },
        (cause: unknown) => parts.log(`remote plugins are not to be had: ${String(cause)}`),
      );
    },
    missing(name) {
      if (opened?.isConnected(name) === true) return undefined;
      return {
        code: "unavailable",
        message: `plugin "${name}" is not connected`,
        hint: problem?.message ?? `start its agent on its machine: claw plugin agent FOLDER`,
      };
    },
    hasServices: (name) => opened?.hasServices(name) === true,
    list: () => opened?.list() ?? [],
    pathOf(words) {
      const name = words.slice(PREFIX.length);
      if (!words.startsWith(PREFIX) || !isName(name)) return ok(words);
      const folder = join(dir, "offers", name);
      if (existsSync(folder)) return ok(folder);
      const isKnown = opened?.list().some((row) => row.name === name) === true;
      return fail("not_found", `no agent has offered the plugin "${name}" yet`, {
        hint: isKnown
          ? "start its agent on its machine: claw plugin agent FOLDER"
          : `let one in: claw plugin enrol ${name}`,
      });
    },
    problem: () => problem,
    async enrol(name, terms, lifeMs) {
      const remote = await open();
      return remote.ok ? remote.value.enrol(name, terms, lifeMs) : remote;
    },
    async unenrol(name) {
      const remote = await open();
      return remote.ok ? remote.value.unenrol(name) : remote;
    },
    launch(name, order, sockets) {
      if (opened === undefined) throw new Error("its agent is not connected");
      return opened.launch(name, order, sockets);
    },
    async close() {
      const remote = await opening;
      if (remote?.ok === true) await remote.value.close();
    },
  };
}
