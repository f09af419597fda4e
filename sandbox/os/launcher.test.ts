import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { fileArguments } from "./bubblewrap-arguments.ts";
import { closeInheritedDescriptors } from "./inherited-descriptors.ts";
import { checkSpec } from "./launch-check.ts";
import type { Exit, Launcher, LaunchSpec } from "./launcher.ts";
import { probeLauncher } from "./probe.ts";
import { readSystemView } from "./system-view.ts";

// As the daemon does: what the runner of the tests leaves open is not the launcher's to close.
closeInheritedDescriptors();

const SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin";
const nodeBinary = process.execPath;
const boxed = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "auto", nodeBinary });
const bare = await probeLauncher({ searchPath: SEARCH_PATH, wanted: "none", nodeBinary });
const noBubblewrap = boxed.level !== "bubblewrap";
if (noBubblewrap) console.warn(`skipping the tests of the bubblewrap level: ${boxed.detail}`);

const root = realpathSync(mkdtempSync(join(tmpdir(), "clawd-os-")));
let work = root;
let count = 0;
beforeEach(() => {
  count += 1;
  work = join(root, String(count));
  mkdirSync(work);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Change = Partial<Omit<LaunchSpec, "command" | "confinement">> & {
  confinement?: Partial<LaunchSpec["confinement"]>;
};

function specOf(command: readonly [string, ...string[]], change: Change = {}): LaunchSpec {
  const confinement = {
    read: [],
    write: [work],
    network: "none" as const,
    system: "programs" as const,
    ...change.confinement,
  };
  return { cwd: work, env: { PATH: SEARCH_PATH }, limits: {}, pipes: 0, ...change, command, confinement };
}

async function run(
  launcher: Launcher,
  spec: LaunchSpec,
  input = "",
): Promise<{ out: string; err: string; exit: Exit; pipes: string[] }> {
  const child = launcher.launch(spec);
  child.stdin.end(input);
  const [out, err, exit, pipes] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exited,
    Promise.all(child.pipes.map((pipe) => text(pipe))),
  ]);
  return { out, err, exit, pipes };
}

function shell(launcher: Launcher, script: string, change: Change = {}, input = "") {
  return run(launcher, specOf(["/bin/sh", "-c", script], change), input);
}

const levels = [
  { name: "bubblewrap", launcher: boxed, skip: noBubblewrap },
  { name: "none", launcher: bare, skip: false },
];

describe.each(levels)("on level $name", ({ launcher, skip }) => {
  test.skipIf(skip)("stdin, stdout, stderr and the exit code belong to the child alone", async () => {
    const result = await shell(launcher, 'cat; echo "to stderr" >&2; exit 7', {}, "first line\nsecond\n");
    expect(result).toEqual({
      out: "first line\nsecond\n",
      err: "to stderr\n",
      exit: { code: 7, signal: null },
      pipes: [],
    });
  });

  test.skipIf(skip)("extra pipes are two-way and begin at descriptor 3; nothing else is open", async () => {
    const child = launcher.launch(
      specOf(["/bin/sh", "-c", 'read -r word <&3; echo "heard $word" >&4; cd /proc/self/fd; echo [0-9]*'], {
        pipes: 2,
      }),
    );
    child.stdin.end();
    child.pipes[0]?.end("hello\n");
    const [listed, said] = await Promise.all([text(child.stdout), text(child.pipes[1] ?? child.stdout)]);
    expect(said).toBe("heard hello\n");
    // dash lists the folder through descriptor 5, which is gone again when it prints
    expect(
      listed
        .trim()
        .split(" ")
        .filter((descriptor) => descriptor !== "5"),
    ).toEqual(["0", "1", "2", "3", "4"]);
    await child.exited;
  });

  test.skipIf(skip)("arguments arrive as they are, whatever a shell would make of them", async () => {
    const hostile = ["$(touch pwned)", "`id`", "a b", "", "'\"", "*", "-x", "ä\n"];
    const { out } = await run(
      launcher,
      specOf([nodeBinary, "-p", "JSON.stringify(process.argv.slice(1))", "--", ...hostile]),
    );
    expect(JSON.parse(out)).toEqual(hostile);
    expect(existsSync(join(work, "pwned"))).toBe(false);
  });

  test.skipIf(skip)("the environment is what was given, even when it is strange", async () => {
    const env = {
      PATH: "/usr/bin:/bin",
      TEXT: "two\nlines $HOME",
      EMPTY: "",
      ...(launcher === bare ? {} : { "a.b": "dotted" }),
    };
    const { out } = await run(launcher, specOf([nodeBinary, "-p", "JSON.stringify(process.env)"], { env }));
    const seen: unknown = JSON.parse(out);
    expect(seen).toMatchObject(env);
    expect(
      Object.keys(seen as object).filter((key) => !(key in env) && key !== "PWD" && key !== "CLAWD_LEASE"),
    ).toEqual([]);
  });

  test.skipIf(skip)("limits are in force", async () => {
    const limits = { addressSpaceMib: 300, dataMib: 200, processes: 77, openFiles: 99, fileMib: 3 };
    const { out } = await shell(launcher, "cat /proc/self/limits", { limits });
    const limitOf = (name: string) => new RegExp(`^${name}\\s+(\\S+)\\s+(\\S+)`, "m").exec(out)?.slice(1);
    const mib = 1024 * 1024;
    expect(limitOf("Max address space")).toEqual([String(300 * mib), String(300 * mib)]);
    expect(limitOf("Max data size")).toEqual([String(200 * mib), String(200 * mib)]);
    expect(limitOf("Max processes")).toEqual(["77", "77"]);
    expect(limitOf("Max open files")).toEqual(["99", "99"]);
    expect(limitOf("Max file size")).toEqual([String(3 * mib), String(3 * mib)]);
    expect(limitOf("Max core file size")).toEqual(["0", "0"]);
  });

  test.skipIf(skip)("a missing program, folder or path is named", () => {
    const launch = (change: Change, command: readonly [string, ...string[]] = ["true"]) =>
      launcher.launch(specOf(command, change));
    expect(() => launch({}, ["no-such-program"])).toThrow(
      `cannot start no-such-program: there is no such program in ${SEARCH_PATH}`,
    );
    expect(() => launch({}, ["/no/such"])).toThrow("cannot start /no/such: there is no such program");
    expect(() => launch({}, [work])).toThrow("there is no such program");
    expect(() => launch({ cwd: "/no/folder" })).toThrow("its working folder /no/folder does not exist");
    expect(() => launch({ confinement: { read: ["/no/data"] } })).toThrow("its read path /no/data does not exist");
    expect(() => launch({ confinement: { write: [work, "relative"] } })).toThrow(
      "its write path relative does not exist",
    );
    expect(() => launch({ confinement: { read: ["/proc/1"] } })).toThrow("which are never shared");
    expect(() => launch({ pipes: 7 })).toThrow("7 pipes asked for, 0 to 6 are possible");
    expect(() => launch({ env: { PATH: SEARCH_PATH, "A=B": "" } })).toThrow("illegal character");
  });

  test.skipIf(skip)("terminate lets the child finish its work, kill does not", async () => {
    const script = 'trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.05; done';
    const polite = launcher.launch(specOf(["/bin/sh", "-c", script]));
    const chunks = polite.stdout[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe("ready\n");
    polite.terminate();
    expect(String((await chunks.next()).value)).toBe("bye\n");
    expect(await polite.exited).toEqual({ code: 3, signal: null });
    polite.terminate();
    polite.kill();

    const stubborn = launcher.launch(
      specOf(["/bin/sh", "-c", 'trap "" TERM; echo ready; while :; do sleep 0.05; done']),
    );
    await stubborn.stdout[Symbol.asyncIterator]().next();
    stubborn.terminate();
    stubborn.kill();
    expect(await stubborn.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test.skipIf(skip)("a child that is killed before it could begin is gone all the same", async () => {
    const child = launcher.launch(specOf(["sleep", "1000"]));
    child.kill();
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test.skipIf(skip)("a write to a dead child does no harm", async () => {
    const child = launcher.launch(specOf(["true"], { pipes: 1 }));
    await child.exited;
    child.stdin.write("too late\n");
    child.pipes[0]?.write("too late\n");
    child.kill();
    const { exit } = await shell(launcher, "exit 0");
    expect(exit.code).toBe(0);
  });
});

describe.skipIf(noBubblewrap)("bubblewrap confines", () => {
  test("files: only what was asked for exists, and only what was granted is writable", async () => {
    const [readable, secret] = [join(work, "readable"), join(work, "secret")];
    for (const dir of [readable, secret]) {
      mkdirSync(dir);
      writeFileSync(join(dir, "note"), dir);
    }
    const box = join(work, "box");
    mkdirSync(box);
    const script = `cat ${readable}/note; ls ${work}; cat ${secret}/note; echo x > ${readable}/new; echo x > /new; echo x > /etc/new; echo ok > mine`;
    const { out, err } = await shell(boxed, script, { cwd: box, confinement: { read: [readable], write: [box] } });
    expect(out).toBe(`${readable}box\nreadable\n`);
    expect(err.split("\n").filter(Boolean)).toHaveLength(4);
    expect(readFileSync(join(box, "mine"), "utf8")).toBe("ok\n");
    expect(existsSync(join(readable, "new"))).toBe(false);
  });

  test("the deepest path decides, in whatever order the paths come", async () => {
    mkdirSync(join(work, "a/open/locked"), { recursive: true });
    mkdirSync(join(work, "a/hidden"));
    writeFileSync(join(work, "a/hidden/key"), "secret");
    writeFileSync(join(work, "a/plain"), "plain");
    writeFileSync(join(work, "a/token"), "secret");
    const confinement = {
      read: [join(work, "a/open/locked"), join(work, "a")],
      write: [join(work, "a/open")],
      hide: [join(work, "a/hidden"), join(work, "a/token"), join(work, "absent"), "/var"],
    };
    const script = "touch no; touch open/yes; touch open/locked/no; touch hidden/no; ls hidden; cat token plain";
    const { out } = await shell(boxed, script, { cwd: join(work, "a"), confinement });
    expect(out).toBe("plain");
    expect(existsSync(join(work, "a/open/yes"))).toBe(true);
    for (const path of ["a/no", "a/open/locked/no", "a/hidden/no"]) expect(existsSync(join(work, path))).toBe(false);
  });

  test("what is hidden does not move away with the folder above it, to be open under another name", async () => {
    mkdirSync(join(work, "b/c/hidden"), { recursive: true });
    mkdirSync(join(work, "b/kept/git"), { recursive: true });
    mkdirSync(join(work, "b/shown/d"), { recursive: true });
    writeFileSync(join(work, "b/c/hidden/key"), "secret");
    const confinement = {
      read: [join(work, "b/shown")],
      write: [join(work, "b")],
      hide: [join(work, "b/c/hidden")],
      held: [join(work, "b/kept/git"), join(work, "b/absent"), join(work, "b/shown/d"), "/usr"],
    };
    const script =
      "mv c x; mv kept/git kept/x; rmdir kept/git; echo y > kept/git/y; touch shown/d/no; touch /usr/no; mv kept k";
    await shell(boxed, script, { cwd: join(work, "b"), confinement });
    expect(readdirSync(join(work, "b")).sort()).toEqual(["c", "k", "shown"]);
    expect(readdirSync(join(work, "b/k"), { recursive: true }).sort()).toEqual(["git", "git/y"]);
    expect(readdirSync(join(work, "b/shown/d"))).toEqual([]);
    const { out } = await shell(boxed, "cat */hidden/key", { cwd: join(work, "b"), confinement });
    expect(out).toBe("");
  });

  test("a path named through a link is found by its name and by its place", async () => {
    const real = join(work, "real");
    mkdirSync(real);
    writeFileSync(join(real, "note"), "found ");
    symlinkSync(real, join(work, "link"));
    const box = join(work, "box");
    mkdirSync(box);
    const confinement = { read: [join(work, "link")], write: [box] };
    const { out } = await shell(boxed, `cat ${work}/link/note ${real}/note`, { cwd: box, confinement });
    expect(out).toBe("found found ");
  });

  test("a grant of / shows files, but not the sockets of the machine, its processes or root's secrets", async () => {
    const script = `cat note; ls /run /sys; cat /etc/shadow; ls /proc | grep -c '^[0-9]'; echo x > ${work}/no`;
    writeFileSync(join(work, "note"), "seen\n");
    const { out } = await shell(boxed, script, { confinement: { read: ["/"], write: [] } });
    const [note, ...rest] = out.split("\n");
    expect(note).toBe("seen");
    expect(rest.join("\n")).not.toMatch(/root:/);
    expect(Number(rest.at(-2))).toBeLessThan(8);
    expect(existsSync(join(work, "no"))).toBe(false);
  });

  test("a working folder outside of everything granted is refused by name", () => {
    expect(() => boxed.launch(specOf(["true"], { cwd: "/var", confinement: { write: [work] } }))).toThrow(
      "cannot start /usr/bin/true: its working folder /var is not in its read or write paths",
    );
  });

  test("with libraries only there are no programs but its own", async () => {
    const script = `const fs = require("node:fs"); console.log(fs.existsSync("/bin/sh"), fs.existsSync("/usr/bin"), fs.existsSync("/etc/passwd"))`;
    const confinement = { read: [], write: [], system: "libraries" as const };
    const { out, err } = await run(boxed, specOf([nodeBinary, "-e", script], { cwd: "/tmp", confinement }));
    expect({ out, err }).toEqual({ out: "false false false\n", err: "" });
  });

  test("the network: none, or the host's", async () => {
    const server = createServer((socket) => socket.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const script = `require("node:net").connect(${port}, "127.0.0.1").on("error", (e) => console.log(e.code)).on("data", (d) => console.log(String(d)))`;
    const attempt = (network: "none" | "host") =>
      run(boxed, specOf([nodeBinary, "-e", script], { confinement: { network } }));
    expect((await attempt("none")).out).toBe("ECONNREFUSED\n");
    expect((await attempt("host")).out).toBe("reached\n");
    const resolv = await shell(boxed, "cat /etc/resolv.conf", { confinement: { network: "host" } });
    expect(resolv.out).toBe(readFileSync("/etc/resolv.conf", "utf8"));
    server.close();
  });

  test("no capability, and no environment but its own in the first process of the sandbox", async () => {
    const env = { PATH: SEARCH_PATH, TOKEN: "hidden-word" };
    const { out } = await shell(boxed, "grep CapEff /proc/self/status; tr '\\0' ' ' < /proc/1/environ", { env });
    expect(out).toMatch(/^CapEff:\s+0000000000000000$/m);
    expect(out).not.toMatch(/hidden-word|HOME|USER/);
  });

  test("the child's environment is not among the arguments that everybody can read", async () => {
    const child = boxed.launch(
      specOf(["/bin/sh", "-c", "echo up; cat"], { env: { PATH: SEARCH_PATH, TOKEN: "hidden-word" } }),
    );
    await child.stdout[Symbol.asyncIterator]().next();
    expect(readFileSync(`/proc/${child.pid}/cmdline`, "utf8")).not.toContain("hidden-word");
    child.kill();
    await child.exited;
  });
});

test("a file of the machine that vanished since it was looked at is left out", () => {
  const spec = specOf(["true"], { confinement: { network: "host" } });
  const gone = join(work, "gone");
  const view = { ...readSystemView(), network: [gone], secrets: [gone] };
  expect(fileArguments(checkSpec(spec), spec.confinement, spec.cwd, view).mounts).not.toContain(gone);
});

describe("a probe", () => {
  test("without bubblewrap says how to get it", async () => {
    const launcher = await probeLauncher({ searchPath: work, wanted: "auto", nodeBinary });
    expect(launcher.level).toBe("none");
    expect(launcher.detail).toContain("apt-get install bubblewrap");
  });

  test("of a bubblewrap that does not work quotes it and gives the next move", async () => {
    const forbidding = '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n';
    writeFileSync(join(work, "bwrap"), forbidding, { mode: 0o755 });
    const launcher = await probeLauncher({ searchPath: work, wanted: "auto", nodeBinary });
    expect(launcher.level).toBe("none");
    expect(launcher.detail).toMatch(/setting up uid map: Permission denied\)\. .*(sysctl -w|--security-opt)/);
  });
});
