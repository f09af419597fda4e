import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOOKS_MAX } from "../../sandbox/hook/hook-folder.ts";
import { CLAW, dial, eventually } from "../kit/claw.ts";
import { shareOf, timesOf } from "../kit/thoroughness.ts";
import { type BesiegedDaemon, besiege } from "./besieged-daemon.ts";

/*
 * Attacks by numbers and by what lies in the hooks folder: the daemon answers, and another session is served.
 */

const FILES = timesOf("files of a crowded hooks folder", { whole: 10_000, share: 3_000 });
const SCRIPTS = 1_000;
const SOURCE_MIB = 2;
const BYTES_PER_MIB = 1024 ** 2;
const LISTENER = "/** @hook at=custom.nothing */\nexport default () => {};\n";
const GUARD = "/** @hook at=tool.before on-error=deny */\n";

let daemon: BesiegedDaemon;
const at = (name: string) => join(daemon.home, "hooks", name);

beforeAll(async () => {
  daemon = await besiege();
});
afterAll(() => daemon.close(), 60_000);

/** Lays something into the hooks folder while the daemon is served, and takes it away again. */
async function withstandFile(name: string, lay: (path: string) => void): Promise<readonly string[]> {
  try {
    return await daemon.withstand(async () => {
      lay(at(name));
      return (await daemon.turn("read attacked.md")).outputs;
    });
  } finally {
    rmSync(at(name), { recursive: true, force: true });
  }
}

async function layCrowd(files: number, text: string): Promise<void> {
  mkdirSync(at("crowd"));
  // One after the other, so that this side of the connections is not deaf meanwhile.
  for (let index = 0; index < files; index += 1) await writeFile(at(`crowd/c${index}.ts`), text);
}

describe("a hooks folder", () => {
  const traps: readonly (readonly [string, string, (path: string) => void, RegExp])[] = [
    [
      "a pipe that nobody writes to",
      "pipe.ts",
      (path) => execFileSync("mkfifo", [path]),
      /pipe.*(broken|cannot be read)/,
    ],
    [
      "a pipe with the name of a settings file",
      "pipe.json",
      (path) => execFileSync("mkfifo", [path]),
      /pipe.*(broken|cannot be read)/,
    ],
    ["a link to itself", "loop.ts", (path) => symlinkSync(path, path), /loop.*(broken|cannot be read)/],
    [
      "a link to an endless device",
      "zero.ts",
      (path) => symlinkSync("/dev/zero", path),
      /zero.*(broken|cannot be read|header)/,
    ],
    ["a folder with a script's name", "folder.ts", (path) => mkdirSync(path), /folder.*broken/],
    [
      "a file of ten gigabytes",
      "huge.ts",
      (path) => {
        writeFileSync(path, GUARD);
        truncateSync(path, 10 * 1024 ** 3);
      },
      /huge.*broken.*(bytes|large)/,
    ],
    [
      "a settings file of ten gigabytes",
      "huge.json",
      (path) => {
        writeFileSync(path, "{");
        truncateSync(path, 10 * 1024 ** 3);
      },
      /huge.*broken.*bytes/,
    ],
    [
      "a header of a megabyte",
      "wide.ts",
      (path) =>
        writeFileSync(
          path,
          `/** @hook at=tool.before\n${" * @allow read=./x\n".repeat(60_000)}*/ export default () => {};`,
        ),
      /wide.*broken/,
    ],
    [
      "a header that opens comments without end",
      "open.ts",
      (path) => writeFileSync(path, "/*".repeat(BYTES_PER_MIB)),
      /open.*broken|attacked/,
    ],
    [
      "a script of two megabytes",
      "long.ts",
      (path) => writeFileSync(path, `${GUARD}export default () => {}; //${"x".repeat(SOURCE_MIB * BYTES_PER_MIB)}`),
      /long.*broken.*bytes/,
    ],
    [
      "a script that is nested too deeply to be bundled",
      "deep.ts",
      (path) => writeFileSync(path, `${GUARD}export default ${"(".repeat(400_000)}1${")".repeat(400_000)}`),
      /deep.*broken/,
    ],
    [
      "a script that imports a pipe",
      "caller",
      (path) => {
        mkdirSync(path);
        writeFileSync(join(path, "caller.ts"), `${GUARD}import "./pipe.ts"; export default () => {};`);
        execFileSync("mkfifo", [join(path, "pipe.ts")]);
      },
      /pipe|caller/,
    ],
    [
      "a script with five hundred imports",
      "many",
      (path) => {
        mkdirSync(path);
        for (let index = 0; index < 500; index += 1)
          writeFileSync(join(path, `part${index}.ts`), `export const p${index} = 1;`);
        const imports = Array.from({ length: 500 }, (_, index) => `import "./part${index}.ts";`);
        writeFileSync(join(path, "many.ts"), `${GUARD}${imports.join("\n")}\nexport default () => {};`);
      },
      /many.*broken.*256 files/,
    ],
    [
      "a script that imports itself in a ring",
      "ring",
      (path) => {
        mkdirSync(path);
        writeFileSync(join(path, "ring.ts"), `${GUARD}import "./other.ts"; export default () => {};`);
        writeFileSync(join(path, "other.ts"), 'import "./ring.ts";');
      },
      /attacked/,
    ],
    [
      "ten thousand commands in a settings file",
      "crowd.json",
      (path) => {
        const hooks = Array.from({ length: 10_000 }, () => ({ type: "command", command: "true" }));
        writeFileSync(path, JSON.stringify({ hooks: { PostCompact: [{ matcher: "*", hooks }] } }));
      },
      /crowd|attacked/,
    ],
  ];
  test.each(shareOf("traps in the hooks folder", traps, { oneIn: 3 }))(
    "with %s holds nobody else up",
    async (_what, name, lay, gives) => {
      const outputs = await withstandFile(name, lay);
      expect(outputs.at(-1)).toMatch(gives);
    },
  );

  test.each<readonly [string, number, string, number]>([
    [`${FILES} files that are none`, FILES, "export const part = 1;\n", 0],
    ["as many scripts as there may be beside the innocent one", HOOKS_MAX - 1, LISTENER, HOOKS_MAX - 1],
  ])("with %s answers, and knows what is there", async (_what, files, text, hooksKnown) => {
    try {
      await daemon.withstand(() => layCrowd(files, text));
      const { hooks } = await daemon.hookAdmin.listHooks({});
      expect(hooks.filter(({ group, failure }) => group === "crowd" && failure === undefined)).toHaveLength(hooksKnown);
      await daemon.withstand(() => daemon.turn("read attacked.md"));
    } finally {
      rmSync(at("crowd"), { recursive: true });
    }
  });

  test("with a thousand scripts answers, lets nobody past the guards that may be among them, and serves again", async () => {
    const { daemon: asked } = dial(daemon.home);
    const says = `the hooks folder holds ${SCRIPTS + 1} hooks, ${HOOKS_MAX} are the limit; remove some`;
    try {
      await layCrowd(SCRIPTS, LISTENER);
      const turns = [1, 2, 3, 4].map(() => daemon.turn("read attacked.md"));
      const statuses = await Promise.all(Array.from({ length: 20 }, () => asked.status({}, { timeoutMs: 20_000 })));
      expect(statuses.every(({ pid }) => pid === daemon.pid)).toBe(true);
      for (const { outputs, ended } of await Promise.all(turns)) {
        expect(ended).toBe(true);
        expect(outputs).toEqual([expect.stringContaining(says)]);
      }
      const { hooks } = await daemon.hookAdmin.listHooks({});
      expect(hooks.filter(({ group, failure }) => group === "crowd" && failure === undefined)).toHaveLength(HOOKS_MAX);
      expect(hooks.flatMap(({ name, failure }) => (failure ? [[name, failure.message]] : []))).toEqual([
        ["hooks/", says],
      ]);
    } finally {
      rmSync(at("crowd"), { recursive: true });
    }
    await daemon.withstand(() => daemon.turn("read attacked.md"));
  });

  test("that changes with every breath is read as it is, and turns go on", async () => {
    let round = 0;
    let over = false;
    const storm = async () => {
      for (; !over; round += 1) {
        daemon.write("hooks/changing.ts", `${GUARD}// ${round}\nexport default () => {};`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    await daemon.withstand(async () => {
      const stormed = storm();
      const turns = await Promise.all([1, 2, 3, 4].map(() => daemon.turn("read attacked.md")));
      over = true;
      await stormed;
      for (const { ended } of turns) expect(ended).toBe(true);
    });
    expect(round).toBeGreaterThan(10);
    rmSync(at("changing.ts"));
  });

  test("that vanishes and comes back is missed by nobody", async () => {
    await daemon.withstand(async () => {
      for (let round = 0; round < 50; round += 1) {
        daemon.write("hooks/coming/coming.ts", LISTENER);
        chmodSync(at("coming"), 0o000);
        await daemon.hookAdmin.listHooks({});
        chmodSync(at("coming"), 0o700);
        rmSync(at("coming"), { recursive: true });
      }
    });
  });
});

describe("many hooks", () => {
  test("a hundred that wedge at one point end one turn by a refusal, and only that one", async () => {
    for (let index = 0; index < 100; index += 1)
      daemon.write(
        `hooks/wedge${index}.ts`,
        `/** @hook at=tool.before on-error=allow timeout=1s */
export default (event) => { if (event.value.args.path === "attacked.md") Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1); };`,
      );
    const stop = new AbortController();
    await daemon.withstand(async () => {
      // A hundred wedges one after the other take minutes: a person's patience ends before, and with it the turn.
      const { sessions } = dial(daemon.home);
      const { sessionId } = await sessions.openSession({ workspace: daemon.workspace });
      const receipts: string[] = [];
      for await (const { news } of sessions.subscribe(
        { sessionId, follow: true, attended: true },
        { signal: stop.signal },
      )) {
        if (news.case === "caughtUp") {
          await sessions.say({ sessionId, text: "read attacked.md" });
          setTimeout(() => void sessions.interrupt({ sessionId }), 5_000);
        }
        if (news.case !== "event") continue;
        receipts.push(news.value.body.case ?? "");
        if (news.value.body.case === "turnEnded") break;
      }
      expect(receipts.at(-1)).toBe("turnEnded");
    });
    for (let index = 0; index < 100; index += 1) rmSync(at(`wedge${index}.ts`));
  });

  test("sixteen sessions that are attacked at once all come to their end", async () => {
    daemon.write(
      "hooks/hostile.ts",
      `${GUARD}export default (event) => { if (event.value.args.path === "attacked.md") for (;;); };`,
    );
    const turns = await daemon.withstand(() =>
      Promise.all(Array.from({ length: 16 }, () => daemon.turn("read attacked.md"))),
    );
    for (const { outputs, ended } of turns) {
      expect(ended).toBe(true);
      expect(outputs).toEqual([expect.stringMatching(/hostile/)]);
    }
    rmSync(at("hostile.ts"));
  });

  test("trials of a wedging hook by the dozen leave the daemon answering", async () => {
    daemon.write(
      "hooks/hostile.ts",
      `${GUARD}export default () => { for (;;); };`.replace("tool.before", "custom.trial"),
    );
    const trials = await daemon.withstand(() =>
      Promise.all(
        Array.from({ length: 24 }, () => daemon.hookAdmin.testHook({ name: "hostile", point: "custom.trial" })),
      ),
    );
    expect(new Set(trials.map(({ verdict }) => verdict))).toEqual(new Set(["block"]));
    rmSync(at("hostile.ts"));
  });
});

describe("the doors", () => {
  test("five hundred status questions at once are all answered", async () => {
    const { daemon: asked } = dial(daemon.home);
    const answers = await daemon.withstand(() => Promise.all(Array.from({ length: 500 }, () => asked.status({}))));
    expect(answers.every(({ pid }) => pid === daemon.pid)).toBe(true);
  });

  test("connections that say nothing, or nonsense, or half of something, are in nobody's way", async () => {
    const words = [
      "",
      "PR",
      "GET / HTTP/1.1\r\nhost: x\r\n",
      "\0".repeat(1 << 20),
      "POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 999999999\r\n\r\n",
    ];
    const sockets = Array.from({ length: 300 }, (_, index) => {
      const socket = createConnection(join(daemon.home, "clawd.sock"));
      socket.on("error", () => {}).resume();
      socket.write(words[index % words.length] ?? "");
      return socket;
    });
    await daemon.withstand(async () => {});
    for (const socket of sockets) socket.destroy();
  });

  test("listeners that never read are in nobody's way", async () => {
    const { sessions } = dial(daemon.home);
    const { sessionId } = await sessions.openSession({ workspace: daemon.workspace });
    const stop = new AbortController();
    const streams = Array.from({ length: 100 }, () =>
      sessions.subscribe({ sessionId, follow: true }, { signal: stop.signal })[Symbol.asyncIterator](),
    );
    await Promise.all(streams.map((stream) => stream.next()));
    await daemon.withstand(async () => {
      for (let index = 0; index < 5; index += 1) await sessions.say({ sessionId, text: `read ${"x".repeat(100_000)}` });
    });
    stop.abort();
  });
});

/** A script's host has a JIT, and those of hooks have none. */
const isOwnHost = (command: string) => command.includes("hook-host") && !command.includes("--jitless");

describe("scripts", () => {
  const script = (name: string, code: string) => daemon.write(`../${daemon.workspace.split("/").at(-1)}/${name}`, code);
  type Order = {
    readonly timeLimitMs?: number;
    readonly memoryLimitMib?: number;
    readonly allow?: string[];
    readonly attended?: boolean;
  };
  const run = (file: string, order: Order = {}, signal?: AbortSignal) =>
    daemon.scripts.runScript(
      { file, folder: daemon.workspace, timeLimitMs: 5_000, ...order },
      signal ? { signal } : {},
    );

  /** Reads a run to its end; gives its exit code and what it printed to standard error. */
  async function outcome(file: string, order: Order = {}): Promise<{ code: number; errors: string; chars: number }> {
    let [code, errors, chars] = [-1, "", 0];
    for await (const { news } of run(file, order)) {
      if (news.case === "exitCode") code = news.value;
      if (news.case === "stderr") errors = (errors + news.value).slice(0, 10_000);
      if (news.case === "stdout") chars += news.value.length;
    }
    return { code, errors, chars };
  }

  const hostile: readonly (readonly [string, string, Order, RegExp])[] = [
    ["loops for ever", "for (;;);", { timeLimitMs: 1000 }, /1000 ms/],
    ["waits for ever", "await new Promise((r) => setTimeout(r, 1e9));", { timeLimitMs: 1000 }, /1000 ms/],
    [
      "wedges a native call",
      "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);",
      { timeLimitMs: 1000 },
      /killed|1000 ms/,
    ],
    [
      "fills memory",
      "const m = new Map(); for (let i = 0; ; i++) m.set(i, {});",
      { memoryLimitMib: 16 },
      /memory|killed|process/,
    ],
    [
      "fills buffers",
      "const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1));",
      { memoryLimitMib: 64 },
      /memory|killed|process|allocation/,
    ],
    [
      "asks for the largest array",
      "Array.from({ length: 2 ** 32 - 1 });",
      { memoryLimitMib: 16, timeLimitMs: 1000 },
      /memory|killed|process|1000 ms/,
    ],
    [
      "throws a thing that loops",
      "throw new Proxy({}, { get() { for (;;); } });",
      { timeLimitMs: 1000 },
      /1000 ms|killed/,
    ],
    ["is a bomb for the bundler", `export default ${"[".repeat(300_000)}`, {}, /./],
    [
      "floods the broker",
      "for (;;) Deno.readTextFile('x').catch(() => {});",
      { timeLimitMs: 1000 },
      /1000 ms|calls|under way|killed|memory/,
    ],
  ];
  test.each(shareOf("scripts that take too much", hostile, { oneIn: 3 }))(
    "a script that %s ends with an error",
    async (_what, code, order, gives) => {
      const file = script("hostile-script.ts", code);
      const { code: exitCode, errors } = await daemon.withstand(() => outcome(file, order));
      expect(exitCode).toBe(1);
      expect(errors).toMatch(gives);
    },
  );

  test("a pipe that nobody writes to is no script", async () => {
    const file = join(daemon.workspace, "pipe-script.ts");
    execFileSync("mkfifo", [file]);
    const { code, errors } = await daemon.withstand(() => outcome(file));
    expect(code).toBe(1);
    expect(errors).toMatch(/not a regular file/);
  });

  test("a script that prints without end is held back by whoever does not read", async () => {
    const file = script("noise.ts", "for (let i = 0; ; i++) console.log('x'.repeat(1000));");
    const stop = new AbortController();
    const streams = Array.from({ length: 4 }, () =>
      run(file, { timeLimitMs: 60_000 }, stop.signal)[Symbol.asyncIterator](),
    );
    await Promise.all(streams.map((stream) => stream.next()));
    await daemon.withstand(() => new Promise((resolve) => setTimeout(resolve, 1000)));
    stop.abort();
  });

  test("a script that prints without end to somebody who reads ends by its time", async () => {
    const file = script("noise.ts", "for (let i = 0; ; i++) console.log('x'.repeat(1000));");
    const { code, chars } = await daemon.withstand(() => outcome(file, { timeLimitMs: 1500 }));
    expect(code).toBe(1);
    expect(chars).toBeGreaterThan(0);
  });

  test("of thirty scripts at once eight run, and the others are told why they do not", async () => {
    const file = script("waits.ts", "await new Promise((r) => setTimeout(r, 3000));");
    const outcomes = await daemon.withstand(() =>
      Promise.all(Array.from({ length: 30 }, () => outcome(file, { timeLimitMs: 20_000 }))),
    );
    expect(outcomes.filter(({ code }) => code === 0)).toHaveLength(8);
    expect(outcomes.filter(({ errors }) => /8 scripts run already/.test(errors))).toHaveLength(22);
  });

  test("questions that nobody answers, and answers to no question, hold nobody up", async () => {
    const file = script(
      "asks.ts",
      "await Promise.all(Array.from({ length: 60 }, (_, i) => Deno.permissions.request({ name: 'read', path: '/q' + i })));",
    );
    const stop = new AbortController();
    await daemon.withstand(async () => {
      const asked = await Promise.all(
        Array.from({ length: 8 }, async () => {
          for await (const { news } of run(file, { attended: true, timeLimitMs: 60_000 }, stop.signal))
            if (news.case === "question") return "asked";
          return "ended";
        }),
      );
      expect(asked).toEqual(Array.from({ length: 8 }, () => "asked"));
      const answers = await Promise.allSettled(
        Array.from({ length: 500 }, (_, index) =>
          daemon.scripts.answerScript({ questionId: `none-${index}`, allowed: true }),
        ),
      );
      const codes = answers.map((answer) => (answer.status === "rejected" ? ConnectError.from(answer.reason).code : 0));
      expect(new Set(codes)).toEqual(new Set([Code.NotFound]));
    });
    stop.abort();
  });

  test("a client that is killed takes its script along", async () => {
    const file = script("stays.ts", "console.log('up'); await new Promise((r) => setTimeout(r, 1e9));");
    await daemon.withstand(async () => {
      const client = spawn(process.execPath, [CLAW, "run", "--time-limit=1h", file], {
        env: daemon.env,
        cwd: daemon.workspace,
      });
      await new Promise((resolve) => client.stdout.once("data", resolve));
      expect(daemon.commands().filter(isOwnHost)).not.toEqual([]);
      client.kill("SIGKILL");
      await eventually(
        () => daemon.commands().filter(isOwnHost),
        (hosts) => hosts.length === 0,
        "the end of the script's process",
      );
    });
  });
});

describe("the breaker", () => {
  test("turns a hook off at its third kill, which then answers by its on-error, until its file changes", async () => {
    const guarded = await besiege("");
    const hook = (code: string) => guarded.write("hooks/hostile.ts", `${GUARD}${code}`);
    hook("export default () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);");
    for (let kill = 0; kill < 3; kill += 1) {
      const { outputs } = await guarded.withstand(() => guarded.turn("read attacked.md"));
      expect(outputs).toEqual([expect.stringMatching(/its process was killed/)]);
    }
    const off = await guarded.withstand(() => guarded.turn("read attacked.md"));
    expect(off.outputs).toEqual([expect.stringMatching(/is turned off: its process had to be killed 3 times/)]);
    hook("export default () => ({ answer: 'mended' });");
    expect((await guarded.turn("read attacked.md")).outputs).toEqual(["mended"]);
    await guarded.close();
  }, 60_000);
});
