// Assembles core/memory/vector/kernel.wat into kernel-bytes.ts; with --check, only tells whether that file is as it would be.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import type openWabt from "wabt";

const SOURCE = "core/memory/vector/kernel.wat";
const TARGET = "core/memory/vector/kernel-bytes.ts";
const VARIANTS = ["relaxed", "plain"] as const;
type Variant = (typeof VARIANTS)[number];

// The package's types do not know this feature yet; the package does.
const FEATURES = { simd: true, relaxed_simd: true, threads: true, multi_value: true, multi_memory: true };

const wabt = await (createRequire(import.meta.url)("wabt") as typeof openWabt)();

function assemble(variant: Variant): Uint8Array {
  const lines = readFileSync(SOURCE, "utf8").split("\n");
  const others = VARIANTS.filter((name) => name !== variant);
  const source = lines.filter((line) => !others.some((name) => line.endsWith(`;; ${name}`))).join("\n");
  const module = wabt.parseWat(SOURCE, source, FEATURES);
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

function constant(variant: Variant): string {
  const chunks =
    Buffer.from(assemble(variant))
      .toString("base64")
      .match(/.{1,110}/g) ?? [];
  return `export const ${variant.toUpperCase()}_KERNEL =\n${chunks.map((chunk) => `  "${chunk}"`).join(" +\n")};\n`;
}

const text = `// Made by .ci/kernel.ts of kernel.wat; do not edit.\n\n${VARIANTS.map(constant).join("\n")}`;
if (!process.argv.includes("--check")) writeFileSync(TARGET, text);
else if (readFileSync(TARGET, "utf8") !== text) {
  console.error(`${TARGET} is not what ${SOURCE} gives; make it anew with: node .ci/kernel.ts`);
  process.exit(1);
}
