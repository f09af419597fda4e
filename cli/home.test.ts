import { expect, test } from "vitest";
import { parseConfig } from "../core/daemon/config.ts";
import { homeAt } from "../core/daemon/home.ts";
import { CONFIG_TEMPLATE } from "./config-template.ts";
import { findCallerFolder, findHome, findSocket } from "./home.ts";

test("client and daemon look for the socket in the same place", () => {
  const long = `/${"x".repeat(120)}`;
  for (const home of ["/home/ann/.clawd", long]) {
    for (const runtime of ["", "/run/user/1000"]) {
      const env = runtime === "" ? {} : { XDG_RUNTIME_DIR: runtime };
      expect(findSocket(home, env, process.env.TMPDIR ?? "/tmp")).toBe(homeAt(home, runtime).socket);
    }
  }
});

test("an empty CLAWD_HOME counts as none", () => {
  expect(findHome({ CLAWD_HOME: "" }, "/home/ann")).toBe("/home/ann/.clawd");
  expect(findHome({ CLAWD_HOME: "/data/" }, "/home/ann")).toBe("/data");
});

test("INIT_CWD counts only where npm moved the program to the package's folder", () => {
  const env = { INIT_CWD: "/home/ann/project" };
  expect(findCallerFolder(env, "/opt/clawd", "/opt/clawd")).toBe("/home/ann/project");
  expect(findCallerFolder(env, "/home/ann/other", "/opt/clawd")).toBe("/home/ann/other");
  expect(findCallerFolder({}, "/opt/clawd", "/opt/clawd")).toBe("/opt/clawd");
});

test("the config that claw init writes is good as it is and with every setting switched on", () => {
  expect(parseConfig(CONFIG_TEMPLATE, "config.toml")).toMatchObject({ ok: true, value: { problems: [] } });
  const on = CONFIG_TEMPLATE.replace(/^# (?=[a-z_]+ = |\[)/gm, "");
  expect(on).toContain("\n[providers.anthropic]\napi_key");
  expect(parseConfig(on, "config.toml")).toMatchObject({ ok: true, value: { problems: [] } });
});
