import type { Result } from "./failure.ts";

/** Bytes that a plugin keeps with its host, until it needs the room or is removed. */
export type Artifact = {
  readonly artifactId: string;
  /** Whose it is. */
  readonly plugin: string;
  /** In the plugin's words, e.g. "image/png". */
  readonly mimeType: string;
  readonly sizeBytes: number;
};

/** Reads from an offset on, 1 MiB at most; nothing at the end. */
export type ReadArtifact = (
  artifact: Pick<Artifact, "plugin" | "artifactId">,
  offsetBytes: number,
) => Promise<Result<Uint8Array>>;
