import { afterEach, describe, expect, test } from "vitest";
import { AbortController } from "./abort.ts";
import type { Call, CallNow } from "./broker-call.ts";
import { callError } from "./deno-errors.ts";
import { denoLibrary } from "./deno-library.ts";
import { type DenoTools, installDeno, type LoadOrder } from "./deno-namespace.ts";
import type { PermissionAnswer } from "./guest-protocol.ts";

type Asked = { readonly name: string; readonly args: unknown };
type Answers = Readonly<Record<string, (args: never) => unknown>>;
// The namespace is made for programs that no compiler of ours looks at.
type Loose = ReturnType<typeof JSON.parse>;

afterEach(() => {
  for (const name of ["Deno", "alert", "confirm", "prompt"]) delete (globalThis as Record<string, unknown>)[name];
});

/** Answers of a broker that runs a child: what it prints, piece by piece, and its end. */
function running(prints: Record<"stdout" | "stderr", string[]>, code: number): Answers {
  return {
    commandStart: () => 7,
    commandRead({ from }: { from: "stdout" | "stderr" }) {
      const piece = prints[from].shift();
      return piece === undefined ? null : base64(piece);
    },
    commandWrite: () => null,
    commandWait: () => ({ code, signal: null }),
    closeHandle: () => null,
  };
}

const QUIET_TESTS = {
  say: () => {},
  describe: () => ({ name: "", message: "", stack: "" }),
  nowMs: () => 0,
  underWay: () => 0,
};

/** A guest's `Deno` whose calls are answered from a table; what it asked and printed is kept. */
function openDeno(answers: Answers = {}, order: Partial<LoadOrder> = {}) {
  const asked: Asked[] = [];
  const printed: string[] = [];
  const exitCodes: number[] = [];
  const call = (async (name: string, args: unknown, signal?: AbortController["signal"]) => {
    if (signal?.aborted) throw signal.reason;
    asked.push({ name, args });
    const answer = answers[name];
    if (!answer) throw callError({ name: "NotFound", message: `No such file or directory (os error 2): ${name}` });
    const work = Promise.resolve(answer(args as never));
    const given = Promise.withResolvers<never>();
    signal?.addEventListener("abort", () => given.reject(signal.reason));
    return Promise.race([work, given.promise]);
  }) as Call;
  const tools: DenoTools = {
    inspect: (value) => `<${value}>`,
    write: (to, bytes) => printed.push(`${to}: ${Buffer.from(bytes).toString()}`),
    library: (parts) => denoLibrary(parts, { ...QUIET_TESTS, origin: "file:///main.ts" }),
    exit: (code) => {
      throw new Error(`exit ${code}`);
    },
    setExitCode: (code) => exitCodes.push(code),
  };
  const whole: LoadOrder = {
    ...{ k: "load", mode: "script", source: "", name: "main.ts", args: ["a"], cwd: "/w", sys: {} },
    env: { values: {}, allowed: [], denied: [] },
    ...order,
  };
  const callNow = ((name: string, args: unknown) => {
    asked.push({ name, args });
    const answer = answers[name];
    if (!answer) throw callError({ name: "NotFound", message: `No such file or directory (os error 2): ${name}` });
    return answer(args as never);
  }) as CallNow;
  installDeno(whole, { call, callNow }, tools);
  const { Deno } = globalThis as Loose;
  return { Deno, asked, printed, exitCodes };
}

function thrown(work: () => unknown): { name: string; message: string } {
  try {
    work();
  } catch (error) {
    const { name, message } = error as Error;
    return { name, message };
  }
  throw new Error("nothing was thrown");
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("files", () => {
  test("a call carries the path as text, also of a file: URL, and Deno's options with their defaults", async () => {
    const { Deno, asked } = openDeno({
      readTextFile: () => "text",
      readFile: () => base64("bytes"),
      writeTextFile: () => null,
      writeFile: () => null,
      mkdir: () => null,
      remove: () => null,
      rename: () => null,
    });
    expect(await Deno.readTextFile("./a")).toBe("text");
    expect(Buffer.from(await Deno.readFile(new URL("file:///a%20b"))).toString()).toBe("bytes");
    await Deno.writeTextFile("b", 5);
    await Deno.writeTextFile("b", "x", { append: true, create: false, createNew: true, mode: 0o600 });
    await Deno.writeFile("c", new TextEncoder().encode("é"));
    await Deno.mkdir("d", { recursive: true });
    await Deno.remove("e");
    await Deno.rename("f", new URL("file:///g"));
    const plain = { append: false, create: true, createNew: false, mode: null };
    expect(asked).toEqual([
      { name: "readTextFile", args: { path: "./a" } },
      { name: "readFile", args: { path: "/a b" } },
      { name: "writeTextFile", args: { path: "b", data: "5", options: plain } },
      {
        name: "writeTextFile",
        args: { path: "b", data: "x", options: { append: true, create: false, createNew: true, mode: 0o600 } },
      },
      { name: "writeFile", args: { path: "c", data: base64("é"), options: plain } },
      { name: "mkdir", args: { path: "d", recursive: true, mode: null } },
      { name: "remove", args: { path: "e", recursive: false } },
      { name: "rename", args: { from: "f", to: "/g" } },
    ]);
  });

  test.each([
    ["an empty path", "", "Error", "Empty path is not allowed"],
    ["a web address", new URL("http://x/a"), "TypeError", "Must be a file URL"],
    ["a number", 5, "TypeError", "a path must be"],
    ["an object that only looks like text", { toString: () => "/etc/passwd" }, "TypeError", "a path must be"],
    ["an object that says it is a URL", { href: "file:///x", pathname: "/x" }, "TypeError", "a path must be"],
  ])("%s rejects, and nothing is asked", async (_what, path, name, message) => {
    const { Deno, asked } = openDeno();
    await expect(Deno.readTextFile(path)).rejects.toMatchObject({ name, message: expect.stringContaining(message) });
    expect(asked).toEqual([]);
  });

  test("bytes must be bytes, and streams are not offered", async () => {
    const { Deno } = openDeno();
    await expect(Deno.writeFile("a", "text")).rejects.toThrow(TypeError);
    await expect(Deno.writeFile("a", new Uint16Array(2))).rejects.toThrow(TypeError);
    await expect(Deno.writeTextFile("a", new ReadableStream())).rejects.toThrow(Deno.errors.NotSupported);
  });

  test("an abort rejects with its reason, before the call and during it", async () => {
    const { Deno, asked } = openDeno({ readTextFile: () => new Promise(() => {}) });
    const early = new AbortController();
    early.abort();
    await expect(Deno.readTextFile("a", { signal: early.signal })).rejects.toMatchObject({ name: "AbortError" });
    expect(asked).toEqual([]);
    const late = new AbortController();
    const reading = Deno.readTextFile("a", { signal: late.signal });
    late.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
  });

  test("a folder is listed when it is iterated, and what fails is thrown there", async () => {
    const entry = { name: "x", isFile: true, isDirectory: false, isSymlink: false };
    const { Deno, asked } = openDeno({ readDir: () => [entry] });
    const listing = Deno.readDir("d");
    expect(asked).toEqual([]);
    const seen = [];
    for await (const one of listing) seen.push(one);
    expect(seen).toEqual([entry]);
    const none = openDeno().Deno.readDir("d");
    await expect(none.next()).rejects.toMatchObject({ name: "NotFound" });
  });

  test("times are dates, and what the system does not tell is null", async () => {
    const facts = { isFile: true, isDirectory: false, isSymlink: false, size: 3, mode: 0o100644 };
    const times = { mtime: 1000, atime: 2000, birthtime: null, ctime: 3000 };
    const { Deno } = openDeno({ stat: () => ({ ...facts, ...times, isFifo: false }) });
    expect(await Deno.stat("a")).toMatchObject({ ...facts, mtime: new Date(1000), birthtime: null, isFifo: false });
  });
});

describe("errors", () => {
  test("a failed call rejects with an instance of its class, with the code of a system error", async () => {
    const { Deno } = openDeno();
    const error = await Deno.stat("x").catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(Deno.errors.NotFound);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: "NotFound", code: "ENOENT" });
    expect(Object.keys(error as object)).toEqual(["name", "code"]);
  });

  test("a guest that changes Deno.errors does not change what its calls reject with", async () => {
    const { Deno } = openDeno();
    const real = Deno.errors.NotFound;
    Deno.errors.NotFound = class extends Error {};
    expect(await Deno.stat("x").catch((cause: unknown) => cause)).toBeInstanceOf(real);
  });

  test.each([
    ["TypeError", TypeError],
    ["RangeError", RangeError],
  ])("%s is JavaScript's own", (name, kind) => {
    expect(callError({ name, message: "m" })).toBeInstanceOf(kind);
  });

  test("an unknown name stays a name, also one that every object has", () => {
    for (const name of ["Strange", "constructor", "__proto__", "toString"]) {
      const error = callError({ name, message: "m" });
      expect([error.constructor, error.name, error.message]).toEqual([Error, name, "m"]);
    }
  });
});

describe("what is not offered says so", () => {
  test.each([
    ["symlink", "a link would lead to what is not granted"],
    ["linkSync", "Deno.linkSync is not offered"],
    ["serve", "Deno.serve is not offered"],
    ["connect", "use fetch()"],
  ])("Deno.%s", (name, text) => {
    const { Deno } = openDeno();
    expect(() => Deno[name]("x")).toThrow(Deno.errors.NotSupported);
    expect(() => Deno[name]("x")).toThrow(text);
  });

  test("what Deno does not have is not there either", () => {
    expect(openDeno().Deno.nonsense).toBeUndefined();
  });
});

describe("the environment", () => {
  const env = { values: { CITY: "Oslo", CODE: "7" }, allowed: ["CITY", "C*"], denied: [] };

  test("granted variables are read; others are denied by name, for scripts and for hooks", () => {
    const { Deno } = openDeno({}, { env });
    expect([Deno.env.get("CITY"), Deno.env.get("CX"), Deno.env.has("CODE")]).toEqual(["Oslo", undefined, true]);
    expect(thrown(() => Deno.env.get("HOME"))).toEqual({
      name: "NotCapable",
      message: 'Requires env access to "HOME", run again with the --allow-env=HOME flag',
    });
    const hook = openDeno({}, { env, mode: "hook" }).Deno;
    expect(thrown(() => hook.env.get("HOME")).message).toContain("@allow env=HOME");
  });

  test("what is set and deleted stays with the guest, and needs the same permission", () => {
    const { Deno, asked } = openDeno({}, { env });
    Deno.env.set("CITY", "Rome");
    Deno.env.delete("CODE");
    Deno.env.set("CX", 5);
    expect([Deno.env.get("CITY"), Deno.env.get("CODE"), Deno.env.get("CX")]).toEqual(["Rome", undefined, "5"]);
    expect(thrown(() => Deno.env.set("PATH", "/x")).name).toBe("NotCapable");
    expect(thrown(() => Deno.env.delete("PATH")).name).toBe("NotCapable");
    expect(asked).toEqual([]);
  });

  test("all of them are listed only when all are granted", () => {
    expect(thrown(() => openDeno({}, { env }).Deno.env.toObject()).message).toContain("--allow-env flag");
    const all = { ...env, allowed: ["*"] };
    const { Deno } = openDeno({}, { env: all });
    Deno.env.set("NEW", "1");
    Deno.env.delete("CODE");
    expect(Deno.env.toObject()).toEqual({ CITY: "Oslo", NEW: "1" });
    expect(thrown(() => openDeno({}, { env: { ...all, denied: ["X"] } }).Deno.env.toObject()).name).toBe("NotCapable");
  });

  test.each([
    ["", "Key is an empty string."],
    ["A=B", 'Key contains invalid characters: "A=B"'],
    ["A\0", "Key contains invalid characters"],
  ])("%j is no name", (name, message) => {
    const { Deno } = openDeno({}, { env: { ...env, allowed: ["*"] } });
    expect(() => Deno.env.get(name)).toThrow(message);
    expect(() => Deno.env.set(name, "x")).toThrow(TypeError);
  });
});

describe("facts and exit codes", () => {
  test("facts of the machine need their sys permission, and are copies", () => {
    const { Deno } = openDeno({}, { sys: { hostname: "box", loadavg: [1, 2, 3] } });
    expect(Deno.hostname()).toBe("box");
    Deno.loadavg().push(4);
    expect(Deno.loadavg()).toEqual([1, 2, 3]);
    expect(thrown(() => Deno.osRelease())).toEqual({
      name: "NotCapable",
      message: 'Requires sys access to "osRelease", run again with the --allow-sys=osRelease flag',
    });
    expect(thrown(() => openDeno({}, { sys: {} }).Deno.uid()).name).toBe("NotCapable");
  });

  test("the working folder is shown where it may be", () => {
    expect(openDeno().Deno.cwd()).toBe("/w");
    expect(thrown(() => openDeno({}, { cwd: "" }).Deno.cwd()).name).toBe("NotCapable");
  });

  test("an exit code is a whole number, of which the last byte counts", () => {
    const { Deno, exitCodes } = openDeno();
    expect(thrown(() => Deno.exit(300)).message).toBe("exit 44");
    expect(thrown(() => Deno.exit(-1)).message).toBe("exit 255");
    Deno.exitCode = 7;
    expect([Deno.exitCode, thrown(() => Deno.exit()).message, thrown(() => Deno.exit("x")).message]).toEqual([
      7,
      "exit 7",
      "exit 7",
    ]);
    expect(() => {
      Deno.exitCode = 1.5;
    }).toThrow(RangeError);
    expect(() => {
      Deno.exitCode = "1";
    }).toThrow(TypeError);
    expect(exitCodes).toEqual([7]);
  });
});

describe("permissions", () => {
  const answer = (state: PermissionAnswer["state"], more: Partial<PermissionAnswer> = {}): PermissionAnswer => ({
    ...{ state, partial: false, env: { values: {}, allowed: [], denied: [] }, sys: {} },
    ...more,
  });

  test("each kind has its own key for the value", async () => {
    const { Deno, asked } = openDeno({ queryPermission: () => answer("prompt") });
    const { permissions } = Deno;
    await permissions.query({ name: "read" });
    await permissions.query({ name: "write", path: new URL("file:///x") });
    await permissions.query({ name: "net", host: "a:1" });
    await permissions.query({ name: "env", variable: "V" });
    await permissions.query({ name: "run", command: "ls" });
    await permissions.query({ name: "sys", kind: "uid" });
    await permissions.query({ name: "tool", tool: "read" });
    await permissions.query({ name: "memory", access: "read" });
    expect(asked.map(({ args }) => args)).toEqual([
      { name: "read", value: null },
      { name: "write", value: "/x" },
      { name: "net", value: "a:1" },
      { name: "env", value: "V" },
      { name: "run", value: "ls" },
      { name: "sys", value: "uid" },
      { name: "tool", value: "read" },
      { name: "memory", value: "read" },
    ]);
    for (const wrong of [{ name: "foo" }, {}, null, { name: "constructor" }])
      await expect(permissions.query(wrong)).rejects.toThrow("is not a valid permission name");
    expect(permissions.querySync({ name: "read" })).toBe(await permissions.query({ name: "read" }));
  });

  test("there is one status for a descriptor; it changes, and says so", async () => {
    let state: PermissionAnswer["state"] = "granted";
    const { Deno } = openDeno({
      queryPermission: () => answer(state, { partial: true }),
      revokePermission: () => answer("prompt"),
    });
    const status = await Deno.permissions.query({ name: "read", path: "/x" });
    expect([status.state, status.partial, status.onchange]).toEqual(["granted", true, null]);
    const heard: string[] = [];
    status.onchange = (event: { type: string }) => heard.push(`${event.type} ${status.state}`);
    status.addEventListener("change", () => heard.push("listener"));
    expect(await Deno.permissions.revoke({ name: "read", path: "/x" })).toBe(status);
    state = "prompt";
    await Deno.permissions.query({ name: "read", path: "/x" });
    expect(heard).toEqual(["change prompt", "listener"]);
  });

  test("a yes opens variables and facts from then on", async () => {
    const opened = { env: { values: { CITY: "Oslo" }, allowed: ["CITY"], denied: [] }, sys: { hostname: "box" } };
    const { Deno } = openDeno({ requestPermission: () => answer("granted", opened) });
    expect(() => Deno.env.get("CITY")).toThrow(Deno.errors.NotCapable);
    await Deno.permissions.request({ name: "env", variable: "CITY" });
    expect([Deno.env.get("CITY"), Deno.hostname()]).toEqual(["Oslo", "box"]);
  });
});

describe("commands", () => {
  const ran = { code: 0, signal: null, stdout: base64("out"), stderr: base64("err") };
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

  test("output() hands over what the command printed", async () => {
    const { Deno, asked, printed } = openDeno({ command: () => ({ ...ran, code: 3 }) });
    const output = await new Deno.Command("git", {
      args: ["status"],
      cwd: "/x",
      env: { A: "1" },
      clearEnv: true,
    }).output();
    expect([output.success, output.code, output.signal, text(output.stdout), text(output.stderr)]).toEqual([
      ...[false, 3, null],
      ...["out", "err"],
    ]);
    expect(asked).toEqual([
      {
        name: "command",
        args: { program: "git", args: ["status"], cwd: "/x", env: { A: "1" }, clearEnv: true, stdin: null },
      },
    ]);
    expect(printed).toEqual([]);
  });

  test("inherited streams are printed, and cannot be read", async () => {
    const { Deno, printed } = openDeno({ command: () => ran, ...running({ stdout: ["out"], stderr: ["err"] }, 0) });
    const output = await new Deno.Command("x", { stdout: "inherit", stderr: "null" }).output();
    expect(printed).toEqual(["stdout: out"]);
    expect(() => output.stdout).toThrow("Cannot get 'stdout': 'stdout' is not piped");
    expect((await new Deno.Command("x").spawn().status).success).toBe(true);
    expect(printed.sort()).toEqual(["stderr: err", "stdout: out", "stdout: out"]);
  });

  test("a spawned command is written to and read from while it runs", async () => {
    const { Deno, asked } = openDeno(running({ stdout: ["o", "ut"], stderr: [] }, 0));
    const child = new Deno.Command("cat", { stdin: "piped", stdout: "piped", stderr: "null" }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode("one "));
    expect(asked.filter(({ name }) => name === "commandWrite")).toEqual([
      { name: "commandWrite", args: { handle: 7, data: base64("one ") } },
    ]);
    await writer.close();
    await expect(writer.write(new Uint8Array(1))).rejects.toThrow(TypeError);
    expect(asked.filter(({ name }) => name === "commandWrite").at(-1)?.args).toEqual({ handle: 7, data: null });
    expect(await child.stdout.text()).toBe("out");
    expect(() => child.stderr).toThrow("not piped");
    expect(await child.status).toEqual({ success: true, code: 0, signal: null });
  });

  test("a command is given back when it has ended and its output is read or given up, and its input is broken then", async () => {
    const { Deno, asked } = openDeno(running({ stdout: ["out"], stderr: ["err"] }, 0));
    const closed = () => asked.filter(({ name }) => name === "closeHandle").length;
    const child = new Deno.Command("cat", { stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
    await child.status;
    await child.stdout.text();
    expect(closed()).toBe(0);
    await child.stderr.cancel();
    await expect.poll(closed).toBe(1);
    const writer = child.stdin.getWriter();
    await expect(writer.write(new Uint8Array(1))).rejects.toThrow(Deno.errors.BrokenPipe);
    const unread = new Deno.Command("cat", { stdin: "piped", stdout: "inherit", stderr: "null" }).spawn();
    await unread.status;
    await expect.poll(closed).toBe(2);
    await unread.stdin.close();
    expect(asked.filter(({ name }) => name === "commandWrite")).toEqual([]);
  });

  test("kill ends it with the signal's code; afterwards there is nothing to kill", async () => {
    const killed = Promise.withResolvers<{ code: number; signal: null }>();
    const { Deno } = openDeno({
      ...running({ stdout: [], stderr: [] }, 0),
      commandWait: () => killed.promise,
      commandKill: () => {
        killed.resolve({ code: 137, signal: null });
        return null;
      },
    });
    const child = new Deno.Command("sleep").spawn();
    expect(() => child.kill("FOO")).toThrow("Invalid signal: FOO");
    child.kill("SIGINT");
    expect(await child.status).toEqual({ success: false, code: 130, signal: "SIGINT" });
    expect(() => child.kill()).toThrow("already terminated");
  });

  test("an abort ends one that nobody reads while it runs", async () => {
    const { Deno } = openDeno({ command: () => new Promise(() => {}) });
    const abort = new AbortController();
    const output = new Deno.Command("sleep", { signal: abort.signal }).output();
    abort.abort();
    expect(await output).toMatchObject({ success: false, code: 143, signal: "SIGTERM" });
  });

  test("a command that cannot be run rejects, and wrong options are TypeErrors", async () => {
    const { Deno } = openDeno();
    await expect(new Deno.Command("none").output()).rejects.toMatchObject({ name: "NotFound" });
    await expect(new Deno.Command("x", { stdin: "piped" }).output()).rejects.toThrow("spawn()");
    for (const options of [{ args: "a" }, { args: [5] }, { env: { A: 5 } }, { stdout: "nowhere" }, { cwd: 5 }])
      expect(() => new Deno.Command("x", options)).toThrow(TypeError);
    expect(() => new Deno.Command(5)).toThrow(TypeError);
    expect(() => new Deno.Command("x").outputSync()).toThrow(Deno.errors.NotFound);
    expect(() => new Deno.Command("x", { stdin: "inherit" }).outputSync()).toThrow(Deno.errors.NotSupported);
  });
});

describe("questions to the person", () => {
  const onTerminal = { terminals: { stdin: true, stdout: true, stderr: true } };

  /** What is typed, handed over as it is asked for. */
  function typing(text: string): Answers {
    let left = Buffer.from(text);
    return {
      inputRead({ bytes }: { bytes: number }) {
        if (left.length === 0) return null;
        const piece = left.subarray(0, bytes);
        left = left.subarray(bytes);
        return piece.toString("base64");
      },
    };
  }

  test("are answered by lines, and what was typed ahead is left for the next", () => {
    const { printed } = openDeno(typing("\nY\nyes\nré\r\n\n\nlast"), onTerminal);
    const { alert, confirm, prompt } = globalThis as Loose;
    expect(alert("done")).toBeUndefined();
    expect([confirm("sure?"), confirm()]).toEqual([true, false]);
    expect([prompt("name"), prompt("name", "me"), prompt(), prompt("end", 5), prompt("gone", "x")]).toEqual([
      "ré",
      "me",
      "",
      "last",
      null,
    ]);
    expect(printed.map((text) => text.replace("stdout: ", ""))).toEqual([
      ...["done [Enter] ", "sure? [y/N] ", "Confirm [y/N] "],
      ...["name ", "name [me] ", "Prompt ", "end [5] ", "gone [x] "],
    ]);
  });

  test("are not asked without a terminal, and nothing is read", () => {
    const { asked, printed } = openDeno(typing("y\n"));
    const { alert, confirm, prompt } = globalThis as Loose;
    expect([alert("x"), confirm("x"), prompt("x", "y")]).toEqual([undefined, false, null]);
    expect([asked, printed]).toEqual([[], []]);
  });

  test("take no line without an end", () => {
    openDeno({ inputRead: () => base64("x") }, onTerminal);
    expect((globalThis as Loose).prompt("endless").length).toBe(4096);
  });
});
