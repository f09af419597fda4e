import { mkdir } from "node:fs/promises";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { TokenBucket } from "../../core/domain/token-bucket.ts";
import { digestFolder } from "../install/folder-digest.ts";
import { isOwnWritePath } from "../install/install.ts";
import { type FarLauncher, type Incarnation, startIncarnation } from "../life/incarnation.ts";
import type { LogRing } from "../link/log-ring.ts";
import type { Started } from "../link/start-outcome.ts";
import { ownWritePaths, prepareWritePaths } from "../manifest/wants.ts";
import type { TakenOffer } from "../offer/tool-offers.ts";
import { farDigest } from "../remote/far-command.ts";
import { HOST_FEATURES } from "../service/host-features.ts";
import type { LiveCalls } from "../service/live-calls.ts";
import type { TakeOffer } from "../service/offer-method.ts";
import { processServices } from "../service/process-services.ts";
import type { Judged } from "./judge-plugin.ts";
import type { LifeParts } from "./life-parts.ts";
import { missingSandbox } from "./start-hindrances.ts";

/** What its processes are started from. */
export type Startable = Judged & {
  readonly name: string;
  readonly folder: string;
  readonly log: LogRing;
  readonly calls: LiveCalls;
  readonly storeBudget: TokenBucket;
};

/** Everything that must hold before a process may start. The digest is taken here, so that the daemon's start is not slowed. */
export async function startPlugin(
  parts: LifeParts,
  plugin: Startable,
  signal: AbortSignal,
): Promise<Started<Incarnation>> {
  const { name, folder, manifest, grant, granted, adopted } = plugin;
  const launchFar = farLauncher(parts, plugin);
  const isHere = launchFar === undefined;
  const unwalled = isHere ? missingSandbox(parts.launcher, name, grant, adopted?.source) : undefined;
  if (unwalled !== undefined) return { ok: false, again: false, failure: unwalled };
  const sealed = adopted === undefined ? await checkSeal(plugin) : ok(undefined);
  if (!sealed.ok) return { ok: false, again: false, failure: sealed.failure };
  const settings = adopted === undefined ? await parts.settings(manifest) : ok(adopted.settings);
  if (!settings.ok) return { ok: false, again: false, failure: settings.failure };
  if (adopted !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
  const prepared = isHere ? await prepareWritePaths(granted, folder, parts.reserved) : ok(undefined);
  if (!prepared.ok) return { ok: false, again: false, failure: prepared.failure };
  const filesSha256 = grant.filesSha256;
  const offer = manifest.dynamic ? takeOffer(parts, plugin) : undefined;
  const { serve, onDenied } = processServices({
    ...parts,
    ...plugin,
    plugin: name,
    filesSha256,
    offer,
    generation: adopted?.generation,
    isShut: !isHere && !parts.remote.hasServices(name),
  });
  const given = {
    ...{ allow: grant.allow, config: settings.value, hostFeatures: HOST_FEATURES },
    ...{ hidden: parts.reserved, serveHost: serve, onDenied, launchFar },
    programs: adopted?.programs ?? [],
    secrets: [...(adopted?.secrets ?? []), ...(await parts.secrets.texts(name))],
  };
  const started = await startIncarnation({ ...parts, ...plugin, ...given }, signal);
  if (started.ok) parts.inForce.set(started.value, settings.value);
  return started;
}

/** Starts it where its agent is; undefined for a plugin of this machine. */
function farLauncher({ remote }: LifeParts, { name, manifest, grant }: Startable): FarLauncher | undefined {
  const filesSha256 = farDigest(manifest.command);
  if (filesSha256 === undefined) return undefined;
  const pipes = manifest.protocol === "json-rpc" ? 0 : 1;
  return (sockets) => remote.launch(name, { allow: grant.allow, filesSha256, pipes }, sockets);
}

/** The files must be those that a person granted. Nothing that it may write itself is among them. */
async function checkSeal({ name, folder, grant, wanted }: Startable): Promise<Result<void>> {
  const digest = await digestFolder(folder, isOwnWritePath(ownWritePaths(wanted, folder)));
  if (!digest.ok) return digest;
  if (digest.value === grant.filesSha256) return ok(undefined);
  return fail("denied", `the files of plugin "${name}" are not the ones that were granted`, {
    hint: `if you changed them, grant them again: claw plugin install ${folder}`,
  });
}

/** What it offers counts at once; what is odd about it stands in its log. */
function takeOffer({ offers, onOffer }: LifeParts, { name, manifest, log }: Startable): TakeOffer {
  return async (declared, commands) => {
    const taken = await offers.take(manifest, declared, commands);
    if (!taken.ok) return taken;
    tellOffer(log, taken.value);
    onOffer(name);
    return taken;
  };
}

function tellOffer(log: LogRing, { names, problems, changed }: TakenOffer): void {
  log.add("host", `it offers ${names.filter((one) => one !== "").length} tools`);
  for (const problem of problems) log.add("host", `warning: ${problem}`);
  if (changed.length === 0) return;
  const which = changed.map((one) => JSON.stringify(one)).join(", ");
  log.add(
    "host",
    `warning: it describes otherwise than before: ${which}; each call of them needs a yes until a person confirms them`,
  );
}
