import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { platformRefusal } from "./platform.ts";

const AS_WINDOWS = "data:text/javascript,Object.defineProperty(process,'platform',{value:'win32'})";

test.each(["linux", "darwin", "freebsd"] as const)("%s is not refused", (platform) => {
  expect(platformRefusal(platform)).toBeUndefined();
});

test.each([
  ["claw", "main.ts"],
  ["clawd", "../core/daemon/main.ts"],
])("%s ends at once on Windows, and says what to do", (_name, entry) => {
  const args = ["--import", AS_WINDOWS, join(import.meta.dirname, entry), "status"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: { HOME: "/nowhere" } });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("does not run on Windows");
  expect(stderr).toContain("WSL 2");
});
