import { ok } from "../../core/domain/failure.ts";
import type { Artifacts } from "./artifacts.ts";
import type { HostMethods } from "./host-method.ts";

/** The plugin's own artifacts; no other plugin sees them, and no permission is needed. */
export function artifactMethods(plugin: string, artifacts: Artifacts): HostMethods<"writeArtifact" | "readArtifact"> {
  return {
    writeArtifact: (piece) => artifacts.write(plugin, piece),
    async readArtifact({ artifactId, offsetBytes, limitBytes }) {
      const data = await artifacts.read(plugin, artifactId, offsetBytes, limitBytes);
      return data.ok ? ok({ data: data.value }) : data;
    },
  };
}
