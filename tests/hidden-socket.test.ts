import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { openBench } from "./kit/claw.ts";

test("no command reaches the daemon's socket, also when it lies in the workspace", async (context) => {
  const runtime = await mkdtemp(join(tmpdir(), "clawd-runtime-"));
  // Over 100 bytes, so that the socket moves to the runtime folder.
  const home = join(runtime, "home".repeat(30));
  const bench = await openBench({ XDG_RUNTIME_DIR: runtime, CLAWD_HOME: home });
  try {
    const { socket, sandbox } = JSON.parse((await bench.claw("status", "--json")).stdout);
    if (sandbox.level === "none") context.skip("there is no sandbox here to hide it");
    expect(socket.startsWith(join(runtime, "clawd-"))).toBe(true);
    expect(execFileSync("sh", ["-c", `test -S ${socket} && echo there`]).toString()).toBe("there\n");
    const look = `run test -S ${socket} && echo reachable || echo hidden`;
    const said = await bench.claw("say", look, "--workspace", runtime, "--yolo", "--json");
    expect(said.stdout).toContain('stdout ---\\nhidden"');
    await bench.claw("down");
    expect(await readdir(runtime)).toEqual([basename(home)]);
  } finally {
    await bench.close();
    await rm(runtime, { recursive: true, force: true });
  }
});
