import { join } from "node:path";
import { ok } from "../../core/domain/failure.ts";
import { openFarLink } from "../../plugin-host/fixtures/far-place.ts";
import { bareLauncher, launcher } from "../../plugin-host/fixtures/plugin-lab.ts";
import type { LaunchSpec, LeasedProcess } from "../../sandbox/os/launcher.ts";

/** Where a plugin of the contract suite runs. */
export type Place = {
  readonly title: string;
  /** Starts its process, whose sockets are in `sockets`, absolute. `close` comes when it is gone. */
  launch(
    spec: LaunchSpec,
    sockets: string,
  ): Promise<{ readonly process: LeasedProcess; readonly close: () => Promise<void> }>;
};

const nothing = async () => {};

export const PLAIN: Place = {
  title: "without a sandbox",
  launch: async (spec) => ({ process: bareLauncher.launch(spec), close: nothing }),
};

/** The strongest of this machine. */
export const SANDBOX: Place = {
  title: "in the sandbox",
  launch: async (spec) => ({ process: launcher.launch(spec), close: nothing }),
};

/** In the sandbox of an agent, behind TLS on loopback: the plugin and its host share no folder for sockets. */
export const FAR: Place = {
  title: "on another machine",
  launch: async (spec, sockets) => {
    const link = await openFarLink(async (_order, write) =>
      ok(launcher.launch({ ...spec, confinement: { ...spec.confinement, write: [write] } })),
    );
    const order = { allow: [], filesSha256: "0".repeat(64), pipes: 1 };
    const process = link.agent.launch(order, { listen: join(sockets, "p.sock"), host: join(sockets, "h.sock") });
    return { process, close: link.close };
  },
};

export const PLACES: readonly Place[] = [PLAIN, SANDBOX, FAR];
