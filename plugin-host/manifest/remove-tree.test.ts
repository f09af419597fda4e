import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
// Rights mean nothing to root.
import { ordinaryUser } from "../../tests/kit/ordinary-user.ts";

const SCRIPT = `
const [module, root] = process.argv.slice(1);
const { chmodSync, mkdirSync, symlinkSync, writeFileSync } = await import("node:fs");
const { removeTree } = await import(module);
mkdirSync(root + "/tree/shut/below", { recursive: true });
writeFileSync(root + "/tree/shut/below/file", "x");
symlinkSync("/", root + "/tree/shut/link");
process.chdir(root + "/tree/shut");
for (let depth = 0; depth < 40; depth++) {
  mkdirSync("d".repeat(200));
  process.chdir("d".repeat(200));
}
writeFileSync("file", "x");
mkdirSync(Buffer.from("\\xff", "latin1"), 0);
process.chdir(root);
for (const folder of ["/tree/shut/below", "/tree/shut", "/tree"]) chmodSync(root + folder, 0);
await removeTree(root + "/tree");
await removeTree(root + "/tree");
`;

test.skipIf(ordinaryUser === undefined)(
  "a folder whose rights were taken away, or too deep for any path, is removed all the same; a missing one is fine",
  async () => {
    const root = mkdtempSync(join(tmpdir(), "remove-tree-"));
    await chmod(root, 0o777);
    const args = ["--input-type=module", "-e", SCRIPT, new URL("./remove-tree.ts", import.meta.url).href, root];
    execFileSync(process.execPath, args, { env: {}, ...ordinaryUser });
    expect(existsSync(join(root, "tree"))).toBe(false);
    rmdirSync(root);
  },
);
