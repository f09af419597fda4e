import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isCountedByUser } from "../../sandbox/os/process-groups.ts";
import {
  bundleFixture,
  closeLab,
  type Lab,
  launcher,
  manifestOf,
  NOTHING_LEFT,
  openLab,
} from "../fixtures/plugin-lab.ts";

const PYTHON_LIBRARY = resolve(import.meta.dirname, "../../plugins-examples/python-stdlib/clawd_plugin.py");
const SECRET = "s3cr3t-of-the-weather";
/** Says what it sees of the system's programs, and writes what Python would like to keep of its modules. */
const PYTHON = `
import os
import module
from clawd_plugin import Plugin

plugin = Plugin("snake", "1.0.0")

@plugin.tool
def act(args, call):
    yield ",".join(sorted(os.listdir("/usr/bin")))

plugin.serve()
`;

const noBubblewrap = launcher.level !== "bubblewrap";
if (noBubblewrap) console.warn(`skipping the tests of confinement: ${launcher.detail}`);
const noGroups = isCountedByUser() || launcher.detail.includes("ot held") || launcher.detail.includes("not counted");
if (noGroups) console.warn(`skipping the control groups of plugins: ${launcher.detail}`);
const noPython = !existsSync("/usr/bin/python3");
if (noPython) console.warn("skipping the plugin in Python: there is no /usr/bin/python3");

let program: string;
let lab: Lab;
beforeAll(async () => {
  program = await bundleFixture("probing.ts");
});
beforeEach(async () => {
  lab = await openLab({ env: { WEATHER_KEY: SECRET, OTHER: "theirs" } });
});
afterEach(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

const authored = (permissions: readonly string[], change: JsonObject = {}) =>
  lab.author(
    manifestOf("probe", {
      launch: { command: ["node", "main.mjs", lab.dir] },
      permissions: permissions.map((permission) => ({ permission, reason: "a test" })),
      ...change,
    }),
    { "main.mjs": program },
  );
const install = async (folder: string) => {
  expect(await lab.host.admin.install(folder, noBubblewrap)).toMatchObject({ ok: true });
};
const act = async (args: JsonObject) => {
  const { status, output } = await lab.call("plugin_probe_act", args);
  return `${status}: ${output}`;
};

describe.skipIf(noGroups)("control groups", () => {
  test("hold a plugin to the memory and the share of the processor of its manifest", async () => {
    // The least that a manifest may ask for, which must be enough for the way into the network too.
    await install(authored(["net=example.com"], { limits: { memoryMib: 128, cpuPercent: 20 } }));
    expect(await act({})).toBe("done: nothing");
    const pid = lab.host.admin.list()[0]?.pid ?? 0;
    const joined = [...readFileSync(`/proc/${pid}/cgroup`, "utf8").matchAll(/^\d+:(.*):.*\/clawd-[^/]+$/gm)];
    const controllers = joined.flatMap(([, named = ""]) =>
      named === "" ? ["cpu", "memory", "pids"] : named.split(","),
    );
    expect(controllers).toEqual(expect.arrayContaining(["cpu", "memory", "pids"]));
  });
});

describe("a variable of the daemon", () => {
  test("is there for whom it was granted, and the others are not", async () => {
    await install(authored(["env=WEATHER_KEY,MISSING"]));
    expect(await act({ env: "WEATHER_KEY" })).toBe(`done: "${SECRET}"`);
    expect(await act({ env: "OTHER" })).toBe("done: null");
    expect(await act({ env: "MISSING" })).toBe("done: null");
  });

  test("comes before what the manifest sets, which holds where the daemon has none", async () => {
    const env = { WEATHER_KEY: "nobody's", MISSING: "a default" };
    await install(authored(["env=WEATHER_KEY,MISSING"], { launch: { command: ["node", "main.mjs", lab.dir], env } }));
    expect(await act({ env: "WEATHER_KEY" })).toBe(`done: "${SECRET}"`);
    expect(await act({ env: "MISSING" })).toBe('done: "a default"');
  });

  test("is gone with its grant, and blotted out of the log", async () => {
    const speaks = `console.log("it is " + process.env.WEATHER_KEY);\n${program}`;
    const folder = authored(["env=WEATHER_KEY"]);
    writeFileSync(join(folder, "main.mjs"), speaks);
    await install(folder);
    await act({});
    const log = lab.host.admin.log("probe");
    expect(log.ok && log.value).toContain("stdout: it is [redacted]");
    expect(await lab.host.admin.revoke("probe", ["env"], false)).toMatchObject({ ok: true });
    expect(await act({ env: "WEATHER_KEY" })).toBe("done: null");
  });

  test("that is a secret is called one before it is granted", async () => {
    expect(await lab.host.admin.look(authored(["env=WEATHER_KEY", "env=CITY"]))).toMatchObject({
      value: {
        wants: [{ reason: "a test (A SECRET of yours is handed to it: WEATHER_KEY)" }, { reason: "a test" }],
      },
    });
  });

  test.each(["env", "env=API_*", "env=LD_PRELOAD", "env=NODE_OPTIONS", "env=CLAWD_HOME", "env=DYLD_X", "env=PATH"])(
    "%s cannot be asked for",
    async (permission) => {
      expect(await lab.host.admin.look(authored([permission]))).toMatchObject({ failure: { code: "invalid" } });
    },
  );
});

describe.skipIf(noBubblewrap)("programs of the system", () => {
  const seen = async (path: string) => (await act({ read: path })).startsWith("done: ");

  test("are those that were granted, with what interprets them", async () => {
    writeFileSync(join(lab.dir, "script"), "#!/usr/bin/env -S sed -n p\n", { mode: 0o755 });
    await install(authored([`run=cat,no-such-program,${join(lab.dir, "script")}`]));
    expect(await seen("/usr/bin/cat")).toBe(true);
    expect(await seen(join(lab.dir, "script"))).toBe(true);
    expect(await seen("/usr/bin/sed")).toBe(true);
    expect(await seen("/usr/bin/tail")).toBe(false);
    expect(await seen("/etc/hostname")).toBe(false);
  });

  test("are all there for whom all were granted, and none for whom none was", async () => {
    await install(authored(["run"]));
    expect(await seen("/usr/bin/tail")).toBe(true);
    expect(await lab.host.admin.revoke("probe", ["run"], false)).toMatchObject({ ok: true });
    expect(await seen("/usr/bin/tail")).toBe(false);
  });

  test.skipIf(noPython)("are for a plugin in Python its interpreter, and its folder stays as it was", async () => {
    const manifest = manifestOf("snake", { launch: { command: ["python3", "main.py", lab.dir] } });
    const library = readFileSync(PYTHON_LIBRARY, "utf8");
    const folder = lab.author(manifest, { "main.py": PYTHON, "module.py": "", "clawd_plugin.py": library });
    for (const at of ["__pycache__", "deep/__pycache__"]) {
      mkdirSync(join(folder, at), { recursive: true });
      writeFileSync(join(folder, at, "stale.pyc"), "");
    }
    await install(folder);
    const { output } = await lab.call("plugin_snake_act");
    expect(output).toMatch(/^python3(?:,python3\.\d+)?$/);
    const installed = readdirSync(join(lab.options.pluginsDir, "snake"), { recursive: true });
    expect(installed.filter((name) => String(name).includes("__pycache__"))).toEqual([]);
  });

  test("a plugin whose folder got bytecode from elsewhere does not start", async () => {
    await install(authored([]));
    const planted = join(lab.options.pluginsDir, "probe", "__pycache__");
    mkdirSync(planted);
    writeFileSync(join(planted, "module.cpython-311.pyc"), "");
    expect(await act({})).toContain("are not the ones that were granted");
  });
});
