import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { ProfileService, type ProfileVersionSchema } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { ProfileAdmin, ProfileVersion } from "../domain/profile.ts";
import { unwrap } from "./connect-failure.ts";

const LIST_LIMIT = 100;

export function routeProfile(router: ConnectRouter, profile: ProfileAdmin): void {
  router.service(ProfileService, {
    async showProfile() {
      const { enabled, version, waiting } = unwrap(await profile.show());
      return { enabled, waiting, ...(version === undefined ? {} : { version: wireVersion(version) }) };
    },
    async listProfileVersions({ limit }) {
      const versions = unwrap(await profile.history(limit === 0 ? LIST_LIMIT : limit));
      return { versions: versions.map(wireVersion) };
    },
    deleteProfile: async () => ({ versions: unwrap(await profile.remove()) }),
  });
}

function wireVersion(version: ProfileVersion): MessageInitShape<typeof ProfileVersionSchema> {
  const { number, profile, atMs, messages, chars, model } = version;
  return { number, profile, learnedAtMs: atMs, messagesProcessed: messages, chars, model };
}
