import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DialPlan, dialDaemon } from "./dial.ts";

let folder: string;
let plan: DialPlan;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "claw-dial-"));
  const home = join(folder, "home");
  const env = { PATH: process.env.PATH };
  plan = {
    home,
    socketPath: join(home, "clawd.sock"),
    nodeBinary: process.execPath,
    daemonFile: join(folder, "d.mjs"),
    env,
  };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const LISTENER = `
import { createServer } from "node:net";
import { writeFileSync } from "node:fs";
const home = process.env.CLAWD_HOME;
const server = createServer((socket) => socket.on("close", () => process.exit(0)));
server.on("error", () => process.exit(1));
server.listen(home + "/clawd.sock", () => writeFileSync(home + "/pid", String(process.pid)));
console.log("up");
`;

test("a missing daemon is started in a private data folder and dialled", async () => {
  await writeFile(plan.daemonFile, LISTENER);
  const dialled = await dialDaemon(plan);
  if (!dialled.ok) throw new Error(dialled.trouble.message);
  expect(dialled.value.started).toBe(true);
  dialled.value.connection.close();
  expect((await stat(plan.home)).mode & 0o777).toBe(0o700);
  expect((await stat(join(plan.home, "clawd.log"))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(plan.home, "clawd.log"), "utf8")).toBe("up\n");
});

test("a start that loses against a rival's daemon dials the rival's", async () => {
  await writeFile(plan.daemonFile, LISTENER);
  const both = await Promise.all([dialDaemon(plan), dialDaemon(plan)]);
  for (const one of both) {
    if (!one.ok) throw new Error(one.trouble.message);
  }
  for (const one of both) if (one.ok) one.value.connection.close();
});

test("a daemon that ends at once is unreachable, with what it said last", async () => {
  await writeFile(plan.daemonFile, `console.log("old"); console.error("the disk is gone"); process.exit(3);`);
  const dialled = await dialDaemon(plan);
  expect(dialled).toMatchObject({ ok: false, trouble: { kind: "unreachable" } });
  if (dialled.ok) return;
  expect(dialled.trouble.message).toContain("exit code 3");
  expect(dialled.trouble.hint).toContain("the disk is gone");
});

test("a data folder that cannot be made is unreachable and says which", async () => {
  await writeFile(join(folder, "file"), "");
  // The kernel's own folders take none, and say so as if the parent were missing.
  for (const home of [join(folder, "file", "home"), "/proc/none/home"]) {
    const dialled = await dialDaemon({ ...plan, home });
    expect(dialled).toMatchObject({ ok: false, trouble: { kind: "unreachable" } });
    if (!dialled.ok) expect(dialled.trouble.message).toContain(home);
  }
});
