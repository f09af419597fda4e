import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { LANDLOCK_EXITS, landlockFile } from "../landlock/landlock-program.ts";
import { buildTable, type WallRule } from "../landlock/landlock-table.ts";
import { createBubblewrapLauncher } from "./bubblewrap-launcher.ts";
import { proxyOpener } from "./filtered-network.ts";
import { closeInheritedDescriptors } from "./inherited-descriptors.ts";
import { readAnswer } from "./landlock-probe.ts";
import { lookUpProgram } from "./launch-check.ts";
import type { Landlock, LaunchSpec } from "./launcher.ts";
import { createLeaseWatcher, NO_MARK } from "./lease-watcher.ts";
import { probeLauncher } from "./probe.ts";
import type { Architecture } from "./syscall-filter.ts";

// As the daemon does: what the runner of the tests leaves open is not the launcher's to close.
closeInheritedDescriptors();

const SEARCH_PATH = "/usr/bin:/bin";
const bwrap = lookUpProgram("bwrap", SEARCH_PATH) ?? "/no/bwrap";
const architecture = (["x64", "arm64"] as const).find((known): known is Architecture => known === process.arch);
const boxed = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "auto", nodeBinary: process.execPath });
const { landlock } = boxed;
const isMissing = "missing" in landlock;
const abi = isMissing ? 0 : landlock.abi;
if (isMissing) console.info(`skipped: no Landlock: ${landlock.missing}`);

/** Not in /tmp, all of which is the own of every sandbox, and given by Landlock. */
const work = mkdtempSync("/var/tmp/clawd-landlock-");
afterAll(() => rmSync(work, { recursive: true }));

const SYSTEM = ["/usr", "/lib", "/lib64", "/etc", "/proc"].flatMap((path): WallRule[] =>
  existsSync(path) ? [{ path: realpathSync.native(path), isFolder: true, access: "read" }] : [],
);
const DEVICES: WallRule = { path: "/dev", isFolder: true, access: "devices" };

let files = 0;
/** The program on disk with a table behind it. */
function fileOf(table: Buffer): string {
  const path = join(work, `walls-${files++}`);
  writeFileSync(path, landlockFile(architecture ?? "x64", table), { mode: 0o755 });
  return path;
}

function tableOf(rules: readonly WallRule[], isTcpShut = true): Buffer {
  return buildTable({ rules: [...SYSTEM, DEVICES, ...rules], isTcpShut, fileLimitBytes: undefined }, abi);
}

/** Without bubblewrap: Landlock alone. */
function behind(rules: readonly WallRule[], command: readonly string[], isTcpShut = true) {
  const { status, stdout, stderr } = spawnSync(fileOf(tableOf(rules, isTcpShut)), command, { encoding: "utf8" });
  return { status, out: stdout, err: stderr };
}

function room(name: string): { readonly mine: string; readonly shown: string; readonly secret: string } {
  const place = (part: string) => {
    const path = join(work, name, part);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "note"), part);
    return path;
  };
  return { mine: place("mine"), shown: place("shown"), secret: place("secret") };
}

test.skipIf(isMissing)("Landlock alone: what the table does not give cannot be read, written, emptied or moved", () => {
  const { mine, shown, secret } = room("alone");
  const rules: WallRule[] = [
    { path: mine, isFolder: true, access: "write" },
    { path: shown, isFolder: true, access: "read" },
  ];
  const script = `
    cat ${shown}/note; echo; cat ${secret}/note; ls ${secret}
    echo spoilt > ${shown}/note; echo x > ${shown}/new; truncate -s 0 ${shown}/note; rm ${shown}/note; mkdir ${shown}/d
    mv ${mine}/note ${shown}/moved; mv ${shown}/note ${mine}/taken; ln ${secret}/note ${mine}/link; mknod ${mine}/n c 1 3
    mkdir -p ${mine}/a ${mine}/b; echo ok > ${mine}/a/x; mv ${mine}/a/x ${mine}/b/y; truncate -s 1 ${mine}/note; cat ${mine}/b/y`;
  const { out, err } = behind(rules, ["/bin/sh", "-c", script]);
  expect(out).toBe("shown\nok\n");
  expect(err.trim().split("\n")).toHaveLength(11);
  expect(readFileSync(join(shown, "note"), "utf8")).toBe("shown");
  expect(readFileSync(join(mine, "note"), "utf8")).toBe("m");
  for (const path of [`${shown}/new`, `${shown}/d`, `${shown}/moved`, `${mine}/taken`, `${mine}/link`, `${mine}/n`]) {
    expect(existsSync(path), path).toBe(false);
  }
});

test.skipIf(isMissing)("a file alone can be given, and is all that there is of its folder", () => {
  const { shown } = room("file");
  writeFileSync(join(shown, "other"), "other");
  const rules: WallRule[] = [{ path: join(shown, "note"), isFolder: false, access: "write" }];
  const script = `cat ${shown}/note; echo more >> ${shown}/note; cat ${shown}/other || ls ${shown}`;
  const { out, status } = behind(rules, ["/bin/sh", "-c", script]);
  expect({ out, isRefused: status !== 0 }).toEqual({ out: "shown", isRefused: true });
  expect(readFileSync(join(shown, "note"), "utf8")).toBe("shownmore\n");
});

test.skipIf(isMissing)("what the program runs is behind the same walls, and devices work as ever", () => {
  const { secret } = room("children");
  const script = `(/bin/sh -c "cat ${secret}/note"); echo gone > /dev/null; head -c 2 /dev/zero | wc -c; kill -0 $$ && echo mine`;
  const { out, err } = behind([], ["/bin/sh", "-c", script]);
  expect(out).toBe("2\nmine\n");
  expect(err).toContain("Permission denied");
});

test.skipIf(abi < 4)("TCP is shut where it is not given, and open where it is", async () => {
  const server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const script = `
    const net = require("node:net");
    const say = (what) => (error) => console.log(what, error ? error.code : "done");
    const listening = net.createServer().on("error", say("listen")).listen(0, "127.0.0.1", () => (say("listen")(), listening.close()));
    const dialled = net.connect(${port}, "127.0.0.1").on("error", say("connect")).on("connect", () => (say("connect")(), dialled.destroy()));`;
  const node: WallRule = { path: process.execPath, isFolder: false, access: "read" };
  const attempt = async (isTcpShut: boolean) => {
    const child = spawn(fileOf(tableOf([node], isTcpShut)), [process.execPath, "-e", script]);
    return (await text(child.stdout)).trim().split("\n").sort();
  };
  expect(await attempt(true)).toEqual(["connect EACCES", "listen EACCES"]);
  expect(await attempt(false)).toEqual(["connect done", "listen done"]);
  server.close();
});

test.skipIf(abi < 6)("no signal and no abstract socket leads out", async () => {
  const server = createServer((socket) => socket.end());
  const name = `\0clawd-${process.pid}-${work}`;
  await new Promise<void>((resolve) => server.listen({ path: name }, resolve));
  const script = `
    try { process.kill(${process.pid}, 0); console.log("signalled"); } catch (error) { console.log(error.code); }
    require("node:net").connect({ path: ${JSON.stringify(name)} }).on("error", (error) => console.log(error.code))
      .on("connect", () => { console.log("connected"); process.exit(); });`;
  const node: WallRule = { path: process.execPath, isFolder: false, access: "read" };
  const child = spawn(fileOf(tableOf([node])), [process.execPath, "-e", script]);
  expect(await text(child.stdout)).toBe("EPERM\nEPERM\n");
  server.close();
});

test.skipIf(isMissing)("a table that is missing, cut short or spoilt never lets the program run", () => {
  const program = join(work, "program");
  writeFileSync(program, `#!/bin/sh\necho ran >> ${work}/ran\n`, { mode: 0o755 });
  const whole = tableOf([{ path: work, isFolder: true, access: "write" }]);
  const runWith = (table: Buffer) => spawnSync(fileOf(table), [program]).status;
  expect(runWith(whole)).toBe(0);
  expect(readFileSync(join(work, "ran"), "utf8")).toBe("ran\n");
  // What is missing at the end is zeros to the program, so that only zeros may be missing.
  const needed = whole.findLastIndex((byte) => byte !== 0);
  for (let length = 0; length <= needed; length += 5) {
    expect(runWith(whole.subarray(0, length)), `${length} bytes`).toBe(LANDLOCK_EXITS.badTable);
  }
  for (let at = 0; at < whole.length; at += 3) {
    const spoilt = Buffer.from(whole);
    spoilt.writeUInt8(spoilt.readUInt8(at) ^ (1 << (at % 8)), at);
    expect(runWith(spoilt), `byte ${at}`).toBe(LANDLOCK_EXITS.badTable);
  }
  // A length that points beyond the file, and one that is more than anything can be: no sum comes of it.
  for (const length of [0xf_0000, 0xffff_ffff]) {
    const long = Buffer.from(whole);
    long.writeUInt32LE(length, 8);
    expect(runWith(long), `length ${length}`).not.toBe(0);
  }
  expect(readFileSync(join(work, "ran"), "utf8")).toBe("ran\n");
});

test.skipIf(isMissing)("a refusal of the kernel ends it with a code and a line of its own", () => {
  const run = (rules: readonly WallRule[], command: readonly string[] = ["/bin/true"]) => behind(rules, command);
  const missing = run([{ path: join(work, "absent"), isFolder: true, access: "read" }]);
  expect(missing).toEqual({ status: 0, out: "", err: "" });
  expect(run([{ path: "/etc/passwd", isFolder: true, access: "read" }])).toEqual({
    status: LANDLOCK_EXITS.badRule,
    out: "",
    err: "landlock: not started, a rule was refused      \n",
  });
  expect(run([{ path: "/etc/passwd/deeper", isFolder: true, access: "read" }]).status).toBe(LANDLOCK_EXITS.badPath);
  expect(run([], [join(work, "absent")]).status).toBe(LANDLOCK_EXITS.badProgram);
  expect(run([], []).status).toBe(abi);
  const unknown = buildTable({ rules: [], isTcpShut: true, fileLimitBytes: undefined }, abi);
  unknown.writeUInt32LE(8, 32);
  expect(spawnSync(fileOf(unknown), ["/bin/true"]).status).toBe(LANDLOCK_EXITS.badTable);
});

/** A bubblewrap that mounts one folder too many, writable. */
function faultyBubblewrap(folder: string): string {
  const path = join(work, "faulty-bwrap");
  const lines = [
    "#!/bin/bash",
    "args=() done=",
    'for one in "$@"; do',
    `  [ "$one" = --remount-ro ] && [ -z "$done" ] && args+=(--bind ${folder} ${folder}) && done=1`,
    '  args+=("$one")',
    "done",
    `exec ${bwrap} "\${args[@]}"`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o755 });
  return path;
}

test.skipIf(isMissing)(
  "a mount that should not be there, or not be writable, is of no use behind Landlock",
  async () => {
    const { mine } = room("faulty");
    const shown = join(work, "faulty");
    const launcherWith = (wall: Landlock) =>
      createBubblewrapLauncher({
        bwrap: faultyBubblewrap(shown),
        detail: "",
        landlock: wall,
        watcher: createLeaseWatcher(SEARCH_PATH, NO_MARK, []),
        groups: undefined,
        architecture,
        proxies: proxyOpener(undefined, process.execPath),
        nextMark: () => NO_MARK,
      });
    const script = `cat ${shown}/secret/note; echo x > ${shown}/shown/new && echo written; echo own > ${mine}/own`;
    const spec: LaunchSpec = {
      command: ["/bin/sh", "-c", script],
      cwd: mine,
      env: { PATH: SEARCH_PATH },
      confinement: { read: [join(shown, "shown")], write: [mine], network: "none", system: "programs" },
      limits: {},
      pipes: 0,
    };
    const attempt = async (wall: Landlock) => {
      const child = launcherWith(wall).launch(spec);
      child.stdin.end();
      child.stderr.resume();
      return text(child.stdout);
    };
    expect(await attempt({ missing: "for the test" })).toBe("secretwritten\n");
    rmSync(join(shown, "shown/new"));
    expect(await attempt(landlock)).toBe("");
    expect(existsSync(join(shown, "shown/new"))).toBe(false);
    expect(readFileSync(join(mine, "own"), "utf8")).toBe("own\n");
  },
);

test.skipIf(isMissing)(
  "who may write no file at all is held to that, with bubblewrap's own file in place",
  async () => {
    const child = boxed.launch({
      command: ["/bin/sh", "-c", "cat /proc/self/limits; echo x > /tmp/x"],
      cwd: "/tmp",
      env: { PATH: SEARCH_PATH },
      confinement: { read: [], write: [], network: "none", system: "programs" },
      limits: { fileMib: 0 },
      pipes: 0,
    });
    child.stdin.end();
    child.stderr.resume();
    expect(await text(child.stdout)).toMatch(/^Max file size +0 +0 /m);
    expect((await child.exited).code).not.toBe(0);
  },
);

/** What a child might have left of its launch, and what it might do with the program that put up its walls. */
const REUSE = `
  grep -E "^Sig(Blk|Ign)" /proc/self/status; ls /proc/self/fd | wc -l
  echo x > /dev/clawd/landlock; rm /dev/clawd/landlock; chmod 777 /dev/clawd/landlock; touch /dev/clawd/more
  /dev/clawd/landlock /bin/sh -c "cat $1/secret/note || echo refused"
  chain=; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do chain="$chain /dev/clawd/landlock"; done
  $chain /bin/echo deep; echo $?; /dev/clawd/landlock relative; echo $?`;

test.skipIf(isMissing)(
  "a child begins with the signals of any program and nothing open, and the walls' program gives it nothing",
  async () => {
    const { mine } = room("reuse");
    const child = boxed.launch({
      command: ["/bin/sh", "-c", REUSE, "sh", join(work, "reuse")],
      cwd: mine,
      env: { PATH: SEARCH_PATH },
      confinement: { read: [], write: [mine], network: "none", system: "programs" },
      limits: {},
      pipes: 0,
    });
    child.stdin.end();
    child.stderr.resume();
    const none = "0".repeat(16);
    const { badWalls, badProgram } = LANDLOCK_EXITS;
    // Three, and the folder that `ls` looks into. The kernel stacks sixteen walls at most, and nothing runs with fewer than asked.
    expect(await text(child.stdout)).toBe(
      `SigBlk:\t${none}\nSigIgn:\t${none}\n4\nrefused\n${badWalls}\n${badProgram}\n`,
    );
  },
);

test("what the probe hears is an ABI, or why there is none", () => {
  expect(readAnswer("7 \nv24.0.0\n")).toEqual({ abi: 7 });
  expect(readAnswer("1 \n")).toMatchObject({ missing: expect.stringContaining("Linux 5.19") });
  expect(readAnswer(`${LANDLOCK_EXITS.noLandlock} landlock: …\n`)).toMatchObject({
    missing: expect.stringContaining("this kernel has none"),
  });
  expect(readAnswer(`${LANDLOCK_EXITS.badWalls} landlock: not started, the walls were refused  \nv24`)).toEqual({
    missing: "it does not work here (landlock: not started, the walls were refused)",
  });
  expect(readAnswer("7 but something was said\n")).toHaveProperty("missing");
  expect(readAnswer("159 \n")).toEqual({ missing: "it does not work here (ended with 159)" });
  expect(readAnswer("")).toEqual({ missing: "it does not work here (ended with nothing)" });
});
