import { afterAll, beforeAll, expect, test } from "vitest";
import {
  closeLab,
  helloFolder,
  type Lab,
  launcher,
  NOTHING_LEFT,
  openLab,
} from "../../plugin-host/fixtures/plugin-lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  for (const folder of [helloFolder, import.meta.dirname]) {
    expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
  }
});
afterAll(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

const misbehave = (mode: string) => lab.call("plugin_misbehave_misbehave", { mode });
const greet = () => lab.call("plugin_hello_greet", { name: "Ada" });

const FAILURES: readonly [string, object][] = [
  ["refuse", { code: "invalid", message: expect.stringContaining("I do not want to") }],
  ["crash", { code: "unavailable", message: expect.stringContaining("was killed by SIGABRT") }],
  ["kill", { code: "unavailable", message: expect.stringContaining("was killed by SIGKILL") }],
  ["exit", { code: "unavailable", message: expect.stringContaining("ended with code 0") }],
  ["stumble", { code: "unavailable", hint: expect.stringContaining("out of the blue") }],
  ["hang", { code: "timed_out" }],
  ["late", { code: "timed_out" }],
  ["leak", { code: expect.stringMatching(/unavailable|invalid/) }],
  ["oversize", { code: "exhausted" }],
];

test.each(FAILURES)(
  "%s is a failed call, meanwhile and afterwards everybody answers",
  { timeout: 30_000 },
  async (mode, failure) => {
    const [bad, other] = await Promise.all([misbehave(mode), greet()]);
    expect(bad).toMatchObject({ status: "failed", failure });
    expect(other).toMatchObject({ status: "done" });
    await expectAllWell();
  },
);

test("a flood on its standard error is drained, cut to the log, and harms nobody", { timeout: 30_000 }, async () => {
  const [bad, other] = await Promise.all([misbehave("flood"), greet()]);
  expect(bad).toMatchObject({ status: "done" });
  expect(other).toMatchObject({ status: "done" });
  await expectAllWell();
});

test.skipIf(launcher.level === "none")(
  "forks end at the limit, and all of them with their parent",
  { timeout: 60_000 },
  async () => {
    const { output } = await misbehave("fork");
    const children = Number(/I have (\d+) of 200/.exec(output)?.[1] ?? 0);
    expect(children).toBeLessThan(32);
    await expectAllWell();
  },
);

test.skipIf(launcher.level === "none")(
  "what it fills is no more than its scratch room",
  { timeout: 60_000 },
  async () => {
    expect(await misbehave("fill")).toMatchObject({ status: "failed", output: expect.stringContaining("ENOSPC") });
    await expectAllWell();
  },
);

async function expectAllWell(): Promise<void> {
  expect(await greet()).toMatchObject({ status: "done" });
  // A reload forgets its crashes, so that the next mode does not wait for a pause.
  expect(await lab.host.admin.reload("misbehave")).toMatchObject({ ok: true });
  expect(await misbehave("behave")).toEqual({ status: "done", output: "I was good." });
}
