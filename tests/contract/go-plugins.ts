import { join } from "node:path";
import { buildGo, goMissing } from "../kit/go-build.ts";
import type { ContractPlugin } from "./contract-plugin.ts";

const built = (fixture: string) => async () => ({
  contract: await buildGo(join(import.meta.dirname, "fixtures", fixture)),
});

const program = {
  command: ["./contract"],
  slowly: { command: ["./contract", "slowly"], files: {} },
  wire: "gRPC",
  missing: goMissing,
} as const;

export const GO_PLUGINS: readonly ContractPlugin[] = [
  { ...program, title: "the library for Go", files: built("go-sdk"), major: 2 },
  { ...program, title: "grpc-go", files: built("go-plain"), major: 1 },
];
