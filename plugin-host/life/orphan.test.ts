import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { beforeAll, test } from "vitest";
import { bundleFixture, openBadLab, survivorsOf } from "../fixtures/plugin-lab.ts";

let program: string;
beforeAll(async () => {
  program = await bundleFixture("misbehaving.ts");
});

const doomedHost = join(import.meta.dirname, "../fixtures/doomed-host.ts");

test.concurrent.for([
  ["grandchild", "walled"],
  ["grandchild", "bare"],
  ["ignore-end", "walled"],
  ["ignore-end", "bare"],
] as const)("no process outlives a daemon that is killed: %s, %s", async ([mode, wall], { expect }) => {
  const lab = await openBadLab(program, mode);
  const daemon = spawn(process.execPath, [doomedHost, lab.dir, wall], { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = (await once(daemon.stdout, "data")) as [Buffer];
  expect(String(said)).toBe("fine\n");
  daemon.kill("SIGKILL");
  await once(daemon, "exit");
  expect(await survivorsOf(lab.dir)).toEqual([]);
  await lab.close();
});
