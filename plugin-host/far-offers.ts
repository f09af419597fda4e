import type { PluginAdmin, PluginRow } from "../core/domain/admin.ts";
import { type Failure, failureToProto } from "../core/domain/failure.ts";
import { PluginState } from "../proto/gen/clawd/v1/admin_pb.ts";
import type { GrantStore } from "./install/grant-store.ts";
import { heldFolder } from "./install/install.ts";
import { readManifest } from "./manifest/read-manifest.ts";
import type { RemoteDoor } from "./remote/remote-door.ts";

export type FarOfferParts = {
  readonly grants: GrantStore;
  readonly admin: PluginAdmin;
  readonly pluginsDir: string;
};

/**
 * What an agent brings now takes the place of what it brought before, when it asks for nothing more; otherwise it is held,
 * like any upgrade. What nobody granted yet waits for a person.
 */
export async function takeFarOffer(
  { grants, admin, pluginsDir }: FarOfferParts,
  name: string,
  folder: string,
): Promise<void> {
  const grant = grants.read(name);
  const offered = readManifest(folder);
  if (!grant.ok || grant.value === undefined || !offered.ok) return;
  if (grant.value.manifestSha256 === offered.value.sha256) return;
  const held = grant.value.heldSha256 === "" ? undefined : readManifest(heldFolder(pluginsDir, name));
  if (held?.ok === true && held.value.sha256 === offered.value.sha256) return;
  await admin.upgrade(folder, false);
}

/** Remote plugins that are enrolled and not installed: what a person could do about them. */
export function farRows(remote: RemoteDoor, isInstalled: (name: string) => boolean): readonly PluginRow[] {
  return remote
    .list()
    .filter(({ name }) => !isInstalled(name))
    .map(({ name }) => {
      const folder = remote.pathOf(`remote:${name}`);
      const read = folder.ok ? readManifest(folder.value) : folder;
      const version = read.ok ? read.value.manifest.version : "";
      const failure: Failure = read.ok
        ? {
            code: "denied",
            message: `remote plugin "${name}" was never granted anything`,
            hint: `look at it and grant it: claw plugin install remote:${name}`,
          }
        : {
            code: "unavailable",
            message: `remote plugin "${name}" has not connected yet`,
            hint: "start its agent on its machine: claw plugin agent FOLDER --token TOKEN",
          };
      const state = read.ok ? PluginState.REFUSED : PluginState.NOT_CONNECTED;
      return { name, version, state, failure: failureToProto(failure) };
    });
}
