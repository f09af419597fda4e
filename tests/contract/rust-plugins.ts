import { join } from "node:path";
import { buildRust, rustMissing } from "../kit/rust-build.ts";
import type { ContractPlugin } from "./contract-plugin.ts";

const CRATE = join(import.meta.dirname, "fixtures/rust");

/** A program of the crate of fixtures. */
function plugin(title: string, program: string, major: number): ContractPlugin {
  return {
    title,
    command: ["./contract"],
    slowly: { command: ["./contract", "late"], files: {} },
    files: async () => ({ contract: await buildRust(CRATE, program) }),
    major,
    wire: "gRPC",
    missing: rustMissing,
  };
}

export const RUST_PLUGINS: readonly ContractPlugin[] = [
  plugin("the library for Rust", "contract-sdk", 2),
  plugin("tonic", "contract-plain", 1),
];
