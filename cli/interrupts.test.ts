import { expect, test } from "vitest";
import { openInterrupts } from "./interrupts.ts";

test("a Ctrl-C that arrives twice at once is heard once, by the last that listens", () => {
  let atMs = 1_000;
  let handler: (() => void) | undefined;
  const source = {
    on: (_signal: "SIGINT", heard: () => void) => {
      handler = heard;
    },
    off: () => {
      handler = undefined;
    },
  };
  const heard: string[] = [];
  const listen = openInterrupts(source, () => atMs, "SIGINT");
  const stopOuter = listen(() => heard.push("outer"));
  const stopInner = listen(() => heard.push("inner"));
  handler?.();
  handler?.();
  expect(heard).toEqual(["inner"]);
  stopInner();
  atMs += 1_000;
  handler?.();
  expect(heard).toEqual(["inner", "outer"]);
  stopOuter();
  expect(handler).toBeUndefined();
});
