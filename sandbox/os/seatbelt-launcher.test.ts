import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { probeLauncher } from "./probe.ts";

const isMac = process.platform === "darwin";
if (!isMac) console.info("no sandbox-exec here: it is macOS's");

test.skipIf(!isMac)("on a Mac a child reads what it was granted, and nothing beside it", async () => {
  const launcher = await probeLauncher({ searchPath: "/usr/bin:/bin", wanted: "auto", nodeBinary: process.execPath });
  expect(launcher.level, launcher.detail).toBe("seatbelt");
  const folder = await realpath(await mkdtemp(join(tmpdir(), "clawd-seatbelt-")));
  await mkdir(join(folder, "open"));
  await writeFile(join(folder, "open/in.txt"), "inside");
  await writeFile(join(folder, "out.txt"), "outside");
  const child = launcher.launch({
    command: ["/bin/sh", "-c", "cat open/in.txt; cat out.txt || echo refused; echo x >open/new.txt || echo refused"],
    cwd: folder,
    env: { PATH: "/usr/bin:/bin" },
    confinement: { read: [join(folder, "open")], write: [], folders: [folder], network: "none", system: "programs" },
    limits: {},
    pipes: 0,
  });
  let said = "";
  child.stdin.end();
  child.stderr.resume();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await Promise.all([child.exited, new Promise((resolve) => child.stdout.once("close", resolve))]);
  await rm(folder, { recursive: true });
  expect(said).toBe("insiderefused\nrefused\n");
});
