import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFailed, test } from "vitest";
import { type Bench, CLAW, eventually, openBench, processesWith } from "./kit/claw.ts";

/*
 * `claw` on a terminal: the bins behind a real pseudo-terminal, with a person at the keys. script(1) of util-linux is the
 * terminal's other side: what is written to its stdin is typed, what comes from its stdout is on the screen.
 */

const MISSING = findMissing();
if (MISSING !== "") console.log(`skipped: ${MISSING}`);

const QUESTION = "allow? [y] once · [a] always in this session · [n] no";
const PROMPT = "› ";
const CONTROL_C = "\u0003";
const CONTROL_D = "\u0004";
const UP = "\u001b[A";
const ENTER = "\r";
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const COLOUR = /\u001b\[\d+m/g;
const ANSWERS = [
  ["y", "allowed once"],
  ["n", "refused"],
  ["a", "allowed for the rest of the session"],
] as const;

let bench: Bench;

function findMissing(): string {
  const found = spawnSync("script", ["--version"], { encoding: "utf8" });
  if (found.error !== undefined) return "there is no script(1) to make a pseudo-terminal with";
  return found.stdout.includes("util-linux") ? "" : "script(1) is not the one of util-linux";
}

/** A terminal with one program on it. */
type Terminal = {
  readonly child: ChildProcess;
  /** Everything that was sent to the screen so far, control sequences included. */
  raw(): string;
  /** The lines that are on the screen now, as a person sees them. */
  lines(): readonly string[];
  type(keys: string): void;
  /** Resolves when the screen shows the text, so many times. */
  shows(text: string, times?: number): Promise<void>;
  /** Resolves when the text has gone from the screen. */
  hides(text: string): Promise<void>;
  resize(columns: number): void;
  /** The exit code. */
  ended: Promise<number>;
};

type Settings = { readonly columns?: number; readonly env?: Readonly<Record<string, string>> };

function openTerminal(argv: readonly string[], { columns = 100, env = {} }: Settings = {}): Terminal {
  const words = [process.execPath, CLAW, ...argv].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const command = `stty cols ${columns} rows 40; tty; exec ${words.join(" ")}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    env: { ...bench.env, TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    cwd: bench.workspace,
    stdio: ["pipe", "pipe", "ignore"],
  });
  let raw = "";
  // Keys that are pressed when the program has ended are lost.
  child.stdin.on("error", () => {});
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text;
  });
  onTestFailed(() => {
    console.log(`the terminal of claw ${argv.join(" ")}:\n${JSON.stringify(raw)}`);
    child.kill("SIGKILL");
  });
  const lines = (): readonly string[] => screenOf(raw);
  return {
    child,
    raw: () => raw,
    lines,
    type: (keys) => void child.stdin.write(keys),
    async shows(text, times = 1) {
      const count = () => lines().join("\n").split(text).length - 1;
      await eventually(count, (seen) => seen >= times, `"${text}" on the terminal`);
    },
    async hides(text) {
      await eventually(lines, (seen) => !seen.join("\n").includes(text), `"${text}" gone from the terminal`);
    },
    resize(wanted) {
      const device = /^(\/dev\/\S+)/.exec(raw)?.[1] ?? "";
      expect(spawnSync("stty", ["-F", device, "cols", String(wanted)]).status).toBe(0);
    },
    ended: once(child, "close").then(([code]) => code),
  };
}

/**
 * A terminal as far as `claw` uses one: text, line ends, and the sequences that it draws questions and prompts with.
 * Colours are dropped; any other control sequence stays to be seen.
 */
function screenOf(raw: string): readonly string[] {
  const lines: string[] = [""];
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is made of them
  for (const [piece] of raw.matchAll(/\u001b\[[\d;?]*[A-Za-z]|[\s\S]/gu)) {
    const line = lines.at(-1) ?? "";
    if (/\[[\d;]*m$|\[\?2004[hl]$/.test(piece)) continue;
    if (piece === "\n") {
      lines.push("");
      column = 0;
    } else if (piece === "\r") column = 0;
    else if (piece === "\b") column = Math.max(0, column - 1);
    else if (piece.endsWith("[2K")) lines[lines.length - 1] = "";
    else if (/\[0?[JK]$/.test(piece)) lines[lines.length - 1] = line.slice(0, column);
    else if (/\[\d+G$/.test(piece)) column = Number.parseInt(piece.slice(2), 10) - 1;
    else {
      lines[lines.length - 1] = line.slice(0, column).padEnd(column) + piece + line.slice(column + piece.length);
      column += piece.length;
    }
  }
  return lines.slice(1);
}

function coloursIn(raw: string): readonly string[] {
  return raw.match(COLOUR) ?? [];
}

function sessionIn(terminal: Terminal): string {
  return /session (\w{10,})/.exec(terminal.lines().join("\n"))?.[1] ?? "";
}

/** Ctrl-C until the program ends: a press while the turn still runs its last steps stops that turn, and one more leaves. */
async function leaveByInterrupt(terminal: Terminal): Promise<number> {
  let exit: number | undefined;
  void terminal.ended.then((code) => {
    exit = code;
  });
  function press(): number | undefined {
    if (exit === undefined) terminal.type(CONTROL_C);
    return exit;
  }
  return (await eventually(press, (code) => code !== undefined, "the end of the program")) ?? Number.NaN;
}

async function isThere(file: string): Promise<boolean> {
  return readFile(join(bench.workspace, file)).then(
    () => true,
    () => false,
  );
}

async function outcomesOf(session: string): Promise<readonly string[]> {
  const { stdout } = await bench.claw("sessions", "export", session);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return events.flatMap((event) => event.turnEnded?.outcome ?? []);
}

describe.skipIf(MISSING !== "")("on a terminal", () => {
  beforeAll(async () => {
    bench = await openBench({ LANG: "C.UTF-8", NO_COLOR: "" });
    await bench.claw("up");
  });
  beforeEach(async () => {
    await writeFile(join(bench.workspace, "notes.md"), "the engine weaves patterns\n");
  });
  afterAll(async () => {
    await bench.close();
    await eventually(
      () => processesWith(bench.home),
      (left) => left.length === 0,
      "the end of every process",
    );
  });

  /** Opens a terminal of the kind in which the text is said, there or, for attach, elsewhere. */
  async function openAndSay(kind: string, text: string): Promise<Terminal> {
    if (kind === "say") return openTerminal(["say", text]);
    if (kind === "chat") {
      const chat = openTerminal(["chat"]);
      await chat.shows(PROMPT);
      chat.type(text + ENTER);
      return chat;
    }
    const { stderr } = await bench.claw("say", "read notes.md");
    const session = /^session (\S+)/m.exec(stderr)?.[1] ?? "";
    const attached = openTerminal(["attach", session]);
    await attached.shows("the engine weaves patterns");
    const said = bench.clawStarted("say", "--session", session, text);
    said.stdout?.resume();
    said.stderr?.resume();
    return attached;
  }

  test.each([
    ["say", 0],
    ["chat", 0],
    ["attach", 130],
  ])("%s asks before each call: y is one, n is none, a is all that come", async (kind, exit) => {
    const files = [1, 2, 3, 4].map((number) => `${kind}-${number}`);
    const terminal = await openAndSay(kind, files.map((file) => `run touch ${file}`).join(" then "));
    for (const [at, [key, answer]] of ANSWERS.entries()) {
      await terminal.shows(`? shell touch ${files[at]}`);
      await terminal.shows(QUESTION);
      expect(await isThere(files[at] ?? "")).toBe(false);
      terminal.type(key);
      await terminal.shows(answer);
    }
    await terminal.shows(`I did run \`touch ${files[3]}\``);
    expect(terminal.lines().join("\n")).not.toContain("allow?");
    expect(terminal.lines().filter((line) => line.startsWith("? "))).toHaveLength(3);
    expect(await Promise.all(files.map(isThere))).toEqual([true, false, true, true]);
    if (kind === "chat") await terminal.shows(PROMPT, 2);
    if (kind === "chat") terminal.type(CONTROL_D);
    // A refused call is the model's news, no failure of the command.
    expect(await (kind === "attach" ? leaveByInterrupt(terminal) : terminal.ended)).toBe(exit);
  });

  test("a hook's question about a permission has answers of its own: y is once, s this session, a for good", async () => {
    const hook = `/** @hook at=tool.before timeout=10s */
      export default async (event) => {
        if (!String(event.value.args.path).startsWith("asked-")) return;
        for (const part of event.value.args.path.split("-").slice(1)) {
          try { await Deno.stat(event.workspace + "/" + part); } catch {}
        }
        return { answer: "looked" };
      };`;
    await mkdir(join(bench.home, "hooks"), { recursive: true });
    await writeFile(join(bench.home, "hooks/curious.ts"), hook);
    const terminal = openTerminal(["say", "read asked-one-two-three-four-two-three"]);
    const told = ["allowed once", "allowed for the rest of the session", "allowed always", "refused"];
    for (const [at, key] of ["y", "s", "a", "n"].entries()) {
      const name = ["one", "two", "three", "four"][at] ?? "";
      await terminal.shows(`? hook curious wants to read ${join(bench.workspace, name)}`);
      await terminal.shows("allow? [y] once · [s] in this session · [a] always, also in others · [n] no");
      terminal.type(key);
      await terminal.shows(`  ${told[at]}`);
    }
    expect(await terminal.ended).toBe(0);
    expect(terminal.lines().filter((line) => line.startsWith("? "))).toHaveLength(4);
    await rm(join(bench.home, "hooks/curious.ts"));
  });

  test.each([
    ["y", "yes", '{"yes":true,"answered":true}'],
    ["n", "no", '{"yes":false,"answered":true}'],
  ])("a plugin's question is asked in its name and its words, and %s is told to it as %s", async (key, told, heard) => {
    const asker = join(bench.workspace, "asker");
    const program = `import { servePlugin, tool } from "clawd/plugin";
      const run = async ({ question }, { host }) => JSON.stringify(await host.ask(question));
      await servePlugin({ name: "asker", version: "1.0.0", tools: [tool({ name: "ask", run })] });`;
    const manifest = {
      ...{ manifestVersion: 1, name: "asker", version: "1.0.0", protocolMajors: [1, 2] },
      launch: { command: ["node", "main.ts"] },
      tools: [{ name: "ask", description: "Asks.", inputSchema: { type: "object" } }],
    };
    await mkdir(asker, { recursive: true });
    await writeFile(join(asker, "main.ts"), program);
    await writeFile(join(asker, "plugin.json"), JSON.stringify(manifest));
    expect(await bench.claw("plugin", "install", asker, "--yes", "--trust")).toMatchObject({ code: 0 });
    // An escape sequence of a stranger's is words, and draws nothing.
    const question = JSON.stringify({ question: "Paint it \u001b[31mred?" });
    const terminal = openTerminal(["say", `call plugin_asker_ask ${question}`, "--allow", "plugin_asker_ask"]);
    await terminal.shows("plugin asker asks: Paint it ");
    await terminal.shows("answer? [y] yes · [n] no");
    terminal.type(key);
    await terminal.shows(`  ${told}`);
    await terminal.shows(heard);
    expect(await terminal.ended).toBe(0);
    expect(terminal.raw()).not.toContain("\u001b[31mred");
    expect(terminal.lines().join("\n")).not.toContain("answer?");
    expect(await bench.claw("plugin", "remove", "asker")).toMatchObject({ code: 0 });
  });

  test("only a key of its own answers: no arrow, no paste, nothing that was typed before the question", async () => {
    const terminal = openTerminal(["say", "run sleep 0.5 & run touch stray", "--allow", "shell:sleep *"]);
    terminal.type("y");
    await terminal.shows(QUESTION);
    for (const keys of [UP, "any", ENTER, "\u001b[1;2A"]) terminal.type(keys);
    // Pressed again until it is a piece of input of its own.
    await eventually(
      () => {
        terminal.type("n");
        return terminal.lines();
      },
      (lines) => lines.join("\n").includes("refused"),
      "the answer",
    );
    expect(await terminal.ended).toBe(0);
    expect(await isThere("stray")).toBe(false);
  });

  test("questions of calls that run side by side come one after the other", async () => {
    const terminal = openTerminal(["say", "run touch s1 & run touch s2"]);
    for (const file of ["s1", "s2"]) {
      await terminal.shows(`? shell touch ${file}`);
      await terminal.shows(QUESTION);
      terminal.type("y");
      await terminal.hides(QUESTION);
    }
    expect(await terminal.ended).toBe(0);
    expect([await isThere("s1"), await isThere("s2")]).toEqual([true, true]);
  });

  test("what one terminal asks another one answers, and the question of the first disappears", async () => {
    const first = openTerminal(["chat"]);
    await first.shows(PROMPT);
    first.type(`run touch other${ENTER}`);
    await first.shows(QUESTION);
    const second = openTerminal(["attach", "last"]);
    await second.shows("? shell touch other");
    await second.shows(QUESTION);
    second.type("y");
    await first.hides(QUESTION);
    await first.shows("allowed once, on another terminal");
    await second.shows("I did run `touch other`");
    expect(second.lines().join("\n")).not.toContain("another terminal");
    // The first one's keys are its prompt's again.
    await first.shows(PROMPT, 2);
    first.type(`read notes.md${ENTER}`);
    await second.shows("› read notes.md");
    await first.shows("the engine weaves patterns");
    await second.shows("the engine weaves patterns");
    expect(await leaveByInterrupt(second)).toBe(130);
    first.type(CONTROL_D);
    expect(await first.ended).toBe(0);
  });

  test("a question that a terminal left open waits for the next one, which is asked and may say no", async () => {
    const first = openTerminal(["say", "run touch left"]);
    await first.shows(QUESTION);
    first.child.kill("SIGKILL");
    await first.ended;
    const second = openTerminal(["attach", "last"]);
    await second.shows(QUESTION);
    second.type("n");
    await second.shows("refused");
    await second.shows("I could not run");
    expect(await leaveByInterrupt(second)).toBe(130);
    expect(await isThere("left")).toBe(false);
  });

  test("Ctrl-C stops the turn and its end is shown; in a chat the session goes on", async () => {
    const terminal = openTerminal(["chat", "--yolo"]);
    await terminal.shows(PROMPT);
    terminal.type(`run sleep 60${ENTER}`);
    await terminal.shows("shell sleep 60");
    terminal.type(CONTROL_C);
    await terminal.shows("■ asked to stop");
    await terminal.shows("■ shell sleep 60 cancelled");
    await terminal.shows("■ the turn was stopped");
    await terminal.shows(PROMPT, 2);
    terminal.type(`read notes.md${ENTER}`);
    await terminal.shows("the engine weaves patterns");
    await terminal.shows(PROMPT, 3);
    terminal.type(CONTROL_D);
    expect(await terminal.ended).toBe(0);
    expect(await outcomesOf(sessionIn(terminal))).toEqual(["TURN_OUTCOME_CANCELLED", "TURN_OUTCOME_DONE"]);
  });

  test("Ctrl-C on a question stops the turn, too, and nothing runs", async () => {
    const terminal = openTerminal(["say", "run touch stopped"]);
    await terminal.shows(QUESTION);
    terminal.type(CONTROL_C);
    await terminal.shows("■ the turn was stopped");
    expect(await terminal.ended).toBe(1);
    expect(terminal.lines().join("\n")).not.toContain("allow?");
    expect(await isThere("stopped")).toBe(false);
  });

  test("Ctrl-C twice leaves at once with 130, and the turn is stopped all the same", async () => {
    const pid = await bench.pid();
    const terminal = openTerminal(["say", "--yolo", "run sleep 60"]);
    await terminal.shows("shell sleep 60");
    // A daemon that is slow to stop the turn.
    process.kill(pid, "SIGSTOP");
    try {
      terminal.type(CONTROL_C);
      // The spinner's second turn is later than any echo of the first press, which would count as the same.
      const told = () => terminal.raw().split("Ctrl-C again leaves at once").length;
      await eventually(told, (times) => times > 3, "the way to leave");
      terminal.type(CONTROL_C);
      expect(await terminal.ended).toBe(130);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await eventually(
      () => outcomesOf(sessionIn(terminal)),
      (outcomes) => outcomes.includes("TURN_OUTCOME_CANCELLED"),
      "the end of the turn",
    );
  });

  test("a chat remembers what was said, and Ctrl-C takes back a line before it leaves", async () => {
    const terminal = openTerminal(["chat"]);
    await terminal.shows(PROMPT);
    terminal.type(`read notes.md${ENTER}`);
    await terminal.shows("the engine weaves patterns");
    await terminal.shows(PROMPT, 2);
    terminal.type(UP);
    await terminal.shows("› read notes.md", 2);
    terminal.type(CONTROL_C);
    await eventually(terminal.lines, (lines) => lines.at(-1)?.trimEnd() === "›", "an empty prompt");
    // An empty line says nothing and does not leave.
    terminal.type(ENTER);
    await terminal.shows(PROMPT, 3);
    terminal.type(UP + ENTER);
    await terminal.shows("the engine weaves patterns", 2);
    await terminal.shows(PROMPT, 4);
    terminal.type(CONTROL_C);
    expect(await terminal.ended).toBe(0);
    expect(await outcomesOf(sessionIn(terminal))).toHaveLength(2);
  });

  test.each([
    ["that marks a paste", ["\u001b[200~read notes.md\rlist", " files\u001b[201~", ENTER]],
    ["that does not", [`read notes.md${ENTER}list files${ENTER}`]],
  ])("lines that are pasted into a chat are one message, on a terminal %s", async (_name, pieces) => {
    const terminal = openTerminal(["chat"]);
    await terminal.shows(PROMPT);
    for (const piece of pieces) terminal.type(piece);
    await terminal.shows("I did read notes.md");
    await terminal.shows("I did list");
    terminal.type(CONTROL_D);
    expect(await terminal.ended).toBe(0);
    expect(await outcomesOf(sessionIn(terminal))).toHaveLength(1);
  });

  test("a spinner turns while a tool runs and leaves nothing behind; a pipe sees neither it nor colours", async () => {
    const terminal = openTerminal(["say", "--yolo", "run sleep 0.3"]);
    expect(await terminal.ended).toBe(0);
    expect(terminal.raw()).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    expect(terminal.lines().join("\n")).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    expect(coloursIn(terminal.raw()).length).toBeGreaterThan(0);
    const { stdout, stderr } = await bench.claw("say", "--yolo", "run sleep 0.3");
    expect(stdout + stderr).not.toMatch(/\p{Cc}(?<!\n)|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/u);
  });

  test.each(["NO_COLOR", "TERM"])("%s takes the colours away, and the words stay", async (name) => {
    const env = { [name]: name === "TERM" ? "dumb" : "1" };
    const terminal = openTerminal(["say", "read notes.md"], { env });
    expect(await terminal.ended).toBe(0);
    expect(coloursIn(terminal.raw())).toEqual([]);
    expect(terminal.lines()).toContainEqual(expect.stringMatching(/^✓ read notes\.md/));
  });

  test("nothing that a file, a tool or a name holds can steer the terminal", async () => {
    const evil = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202etxt\rhidden\b\b";
    await writeFile(join(bench.workspace, "notes.md"), `${evil}the end\n`);
    const id = "evil";
    const argv = ["say", "--yolo", `read notes.md then run printf '\\033[2J%s' ${id} then run cat notes.md`];
    const terminal = openTerminal(argv);
    expect(await terminal.ended).toBe(0);
    await terminal.shows("the end");
    const session = sessionIn(terminal);
    const screens = [terminal];
    for (const more of [
      ["sessions", "show", session],
      ["sql", `select output from calls where session = '${session}'`],
      ["sessions", "export", session],
    ]) {
      const shown = openTerminal(more);
      expect(await shown.ended).toBe(0);
      expect(shown.raw()).toContain("owned");
      screens.push(shown);
    }
    for (const { raw } of screens) {
      // What claw itself sends.
      const rest = raw().replace(COLOUR, "").replaceAll("\u001b[2K", "").replaceAll("\r", "");
      expect(rest).not.toMatch(/(?!\n|\t)\p{Cc}|\u202e/u);
    }
  });

  test("a narrow terminal and one that changes its size keep the spinner on one line and the tables whole", async () => {
    const words = "echo the words of this command are far too many for one line of so narrow a terminal";
    const terminal = openTerminal(["say", `run ${words} then run ${words} again`], { columns: 40 });
    const short = "allow? y once, a always, n no";
    await terminal.shows(short);
    terminal.resize(120);
    terminal.type("y");
    await terminal.shows(QUESTION);
    terminal.resize(30);
    terminal.type("y");
    expect(await terminal.ended).toBe(0);
    expect(terminal.lines().join("\n")).not.toContain("allow?");
    for (const [drawn] of terminal.raw().matchAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏][^\r\n]*/g))
      expect(drawn.replace(/\p{Cc}\[\d+m/gu, "").length).toBeLessThan(120);
    const table = openTerminal(["sql", "select * from calls"], { columns: 60 });
    expect(await table.ended).toBe(0);
    for (const line of table.lines()) expect(line.length).toBeLessThanOrEqual(60);
  });

  test("installing a plugin asks first, and n installs nothing", async () => {
    const hello = join(import.meta.dirname, "../plugins-examples/hello");
    const no = openTerminal(["plugin", "install", hello, "--trust"]);
    await no.shows("grant this and install? [y] yes · [n] no");
    no.type("n");
    await no.shows("not installed");
    expect(await no.ended).toBe(1);
    const none = openTerminal(["plugin", "list"]);
    expect(await none.ended).toBe(0);
    await none.shows("No plugins installed.");
    const yes = openTerminal(["plugin", "install", hello, "--trust"]);
    await yes.shows("grant this and install?");
    yes.type("y");
    expect(await yes.ended).toBe(0);
    await yes.shows("installed hello");
  });

  test("a script asks for what it was not granted: y is that, a is all of a kind, n is nothing; a typed-ahead y is no answer", async () => {
    const code = `
      const read = (path) => Deno.readTextFile(path).then((text) => text.trim(), (error) => error.name);
      console.log("first:", await read("notes.md"), await read("notes.md"));
      console.log("second:", await read("none.md"), await read("other.md"));
      console.log("third:", await Deno.mkdir("made").then(() => "made", (error) => error.name));`;
    await writeFile(join(bench.workspace, "asks.js"), code);
    const terminal = openTerminal(["run", "asks.js"]);
    terminal.type("yyy");
    await terminal.shows(`asks.js asks for read=${bench.workspace}/notes.md`);
    await terminal.shows("allow? [y] yes · [n] no · [a] all of read");
    expect(terminal.lines().join("\n")).not.toContain("first:");
    terminal.type("y");
    await terminal.shows("first: the engine weaves patterns the engine weaves patterns");
    await terminal.shows(`asks.js asks for read=${bench.workspace}/none.md`);
    terminal.type("a");
    await terminal.shows("second: NotFound NotFound");
    await terminal.shows(`asks.js asks for write=${bench.workspace}/made`);
    terminal.type("n");
    await terminal.shows("third: NotCapable");
    expect(await terminal.ended).toBe(0);
    expect(terminal.lines().join("\n")).not.toContain("allow?");
  });

  test("a script's alert, confirm and prompt stand still until a line is typed; Ctrl-C ends it there", async () => {
    const code = `
      alert("the end is near");
      console.log("sure:", confirm("sure?"), "name:", prompt("who?", "nobody"), prompt("and?"));
      prompt("more?");
      console.log("not reached");`;
    await writeFile(join(bench.workspace, "prompts.js"), code);
    const terminal = openTerminal(["run", "prompts.js"]);
    await terminal.shows("the end is near [Enter] ");
    terminal.type(ENTER);
    await terminal.shows("sure? [y/N] ");
    // A line ahead of its question is the answer to that, as in every program that reads lines.
    terminal.type(`y${ENTER}${ENTER}`);
    await terminal.shows("who? [nobody] ");
    await terminal.shows("and? ");
    terminal.type(`more${ENTER}`);
    await terminal.shows("sure: true name: nobody more");
    await terminal.shows("more? ");
    terminal.type(CONTROL_C);
    expect(await terminal.ended).toBe(130);
    expect(terminal.lines().join("\n")).not.toContain("not reached");
  });

  test("--no-prompt asks nobody, and Ctrl-C on a script's question ends the script", async () => {
    await writeFile(join(bench.workspace, "reads.js"), 'console.log(await Deno.readTextFile("notes.md"));');
    const quiet = openTerminal(["run", "--no-prompt", "reads.js"]);
    expect(await quiet.ended).toBe(1);
    expect(quiet.lines().join("\n")).toContain("--allow-read=");
    expect(quiet.lines().join("\n")).not.toContain("allow?");
    const asked = openTerminal(["run", "reads.js"]);
    await asked.shows("allow? [y]");
    asked.type(CONTROL_C);
    expect(await asked.ended).toBe(130);
  });

  test("a question that nobody answers in time goes away, and the turn carries on", async () => {
    await bench.claw("down");
    await writeFile(join(bench.home, "config.toml"), "[limits]\napproval_seconds = 1\n");
    const terminal = openTerminal(["say", "run touch late"]);
    await terminal.shows(QUESTION);
    await terminal.hides(QUESTION);
    await terminal.shows("nobody answered in time");
    await terminal.shows("nobody answered within 1 seconds");
    expect(await terminal.ended).toBe(0);
    expect(await isThere("late")).toBe(false);
  });

  test("a form that a server asks for is filled in field by field, and what does not fit is asked again", async () => {
    const entry = {
      command: "node",
      args: [join(import.meta.dirname, "mcp/full-server.mjs")],
      trust: true,
      timeout: 60_000,
    };
    await writeFile(join(bench.home, "mcp.json"), JSON.stringify({ mcpServers: { f: entry } }));
    await bench.claw("mcp", "reload");
    const show = () => bench.claw("mcp", "show", "f");
    await eventually(show, ({ stdout }) => stdout.includes("mcp_f_form"), "the tools of the server");
    const terminal = openTerminal(["say", "--allow", "mcp_*", "call mcp_f_form {}"]);
    await terminal.shows("in its own words: who are you?");
    await terminal.shows("answer? [y] yes");
    terminal.type("y");
    await terminal.shows("name: ");
    terminal.type(`Ann${ENTER}`);
    await terminal.shows("age [30]: ");
    terminal.type(`old${ENTER}`);
    await terminal.shows("it must be a whole number");
    await terminal.shows("age [30]: ", 2);
    terminal.type(ENTER);
    await terminal.shows("colour one of: red, blue: ");
    terminal.type(`blue${ENTER}`);
    await terminal.shows('"colour":"blue"');
    expect(terminal.lines().join(" ")).toContain('"age":30');
    expect(await terminal.ended).toBe(0);
    await bench.claw("mcp", "remove", "f");
  });
});
