import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CLAW, removeFolder, startDaemon } from "./house.ts";

const HELLO = join(import.meta.dirname, "..", "plugins-examples/hello");

/** Installs the hello plugin so many times under different names, through the front door. */
export async function installCopies(home: string, copies: number): Promise<void> {
  const daemon = await startDaemon(home);
  for (let index = 0; index < copies; index += 1) {
    const folder = mkdtempSync(join(tmpdir(), "clawd-copy-"));
    cpSync(HELLO, folder, { recursive: true });
    const file = join(folder, "plugin.json");
    const manifest = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...manifest, name: `copy${index}` }));
    execFileSync(process.execPath, [CLAW, "plugin", "install", folder, "--yes"], { env: daemon.env, stdio: "ignore" });
    removeFolder(folder);
  }
  await daemon.stop();
}
