import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BrokerDoor, openBrokerDoor } from "./broker-door.ts";
import type { DenoRequest, DenoVerdict } from "./broker-wire.ts";

const DENO = join(import.meta.dirname, "../../node_modules/deno/deno");
const isDenoHere = existsSync(DENO);
if (!isDenoHere) console.info("no Deno here: npm did not run its installer");

const ALLOWED: DenoVerdict = { allowed: true };

function ask(id: number, more: object = {}): string {
  return `${JSON.stringify({ v: 1, pid: 7, id, datetime: "", permission: "read", value: "x", ...more })}\n`;
}

describe("the broker of Deno's permissions", () => {
  let folder: string;
  let door: BrokerDoor;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "clawd-door-"));
  });
  afterEach(async () => {
    await door.close();
    await rm(folder, { recursive: true });
  });

  async function open(judge: (request: DenoRequest) => Promise<DenoVerdict>, answerLimitMs = 10_000): Promise<void> {
    door = await openBrokerDoor({ socketsDir: join(folder, "s"), judge, answerLimitMs });
  }

  /** Says something and hears all until the door hangs up; with `answers` it hangs up itself after so many. */
  async function say(text: string, answers = Number.POSITIVE_INFINITY): Promise<string> {
    const socket = connect(door.socket);
    socket.on("error", () => {});
    let heard = "";
    socket.setEncoding("utf8").on("data", (piece: string) => {
      heard += piece;
      if (heard.split("\n").length > answers) socket.end();
    });
    socket.write(text);
    await once(socket, "close");
    return heard;
  }

  test("answers in Deno's words, with the reason of a refusal", async () => {
    await open(async ({ value }) => (value === "x" ? ALLOWED : { allowed: false, reason: 'no "y"' }));
    expect(await say(ask(1), 1)).toBe('{"id":1,"result":"allow"}\n');
    expect(await say(ask(1, { value: "y" }), 1)).toBe('{"id":1,"result":"deny","reason":"no \\"y\\""}\n');
    expect(door.fault).toBeUndefined();
  });

  test.each([
    ["garbage", "hello\n", "no request"],
    ["another version", ask(1, { v: 2 }), "no request"],
    ["a number out of turn", ask(2), "no request"],
    ["a value that is no text", ask(1, { value: {} }), "no request"],
    ["no process", ask(1, { pid: -1 }), "no request"],
    ["two at once", ask(1) + ask(2), "before it was answered"],
    ["a line without an end", "x".repeat(40_000), "characters"],
  ])("hangs up on %s, and says why", async (_what, text, why) => {
    await open(async () => ALLOWED);
    expect(await say(text)).toBe("");
    expect(door.fault).toContain(why);
  });

  test("hangs up when the judge breaks, or does not come to an end", async () => {
    await open(async () => Promise.reject(new Error("broken")));
    expect(await say(ask(1))).toBe("");
    expect(door.fault).toContain("could not be judged");
    await door.close();
    await open(() => new Promise(() => {}), 20);
    expect(await say(ask(1))).toBe("");
    expect(door.fault).toContain("in time");
  });

  test("judges one request at a time, however many ask", async () => {
    let now = 0;
    let most = 0;
    await open(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return ALLOWED;
    });
    const heard = await Promise.all(Array.from({ length: 20 }, () => say(ask(1), 1)));
    expect(new Set(heard)).toEqual(new Set(['{"id":1,"result":"allow"}\n']));
    expect(most).toBe(1);
  });

  describe.skipIf(!isDenoHere)("with a real Deno", () => {
    async function runDeno(code: string, socket: string): Promise<{ code: number; stdout: string; stderr: string }> {
      const file = join(folder, "main.ts");
      await writeFile(file, code);
      const env = { DENO_PERMISSION_BROKER_PATH: socket, DENO_DIR: join(folder, "cache"), NO_COLOR: "1" };
      const deno = spawn(DENO, ["run", "--quiet", "--no-lock", file], { cwd: folder, env });
      const end = { stdout: "", stderr: "" };
      deno.stdout.on("data", (text) => {
        end.stdout += text;
      });
      deno.stderr.on("data", (text) => {
        end.stderr += text;
      });
      const [exit] = await once(deno, "close");
      return { code: exit, ...end };
    }

    const READS = 'try { Deno.readTextFileSync("main.ts"); console.log("read") } catch { console.log("refused") }';

    test("a broker that is not there, one that dies midway and one that breaks end it with code 87 and nothing done", async () => {
      await open(async () => ALLOWED);
      expect((await runDeno(READS, join(folder, "none"))).code).toBe(87);
      expect(await runDeno(READS, door.socket)).toMatchObject({ code: 0, stdout: "read\n" });
      await door.close();
      await open(async () => {
        await door.close();
        return ALLOWED;
      });
      expect(await runDeno(READS, door.socket)).toMatchObject({ code: 87, stdout: "" });
      await open(async () => Promise.reject(new Error("broken")));
      expect(await runDeno(READS, door.socket)).toMatchObject({ code: 87, stdout: "" });
    });

    test("a flood of requests from many threads is answered whole and in order", async () => {
      let asked = 0;
      await open(async () => {
        asked += 1;
        return ALLOWED;
      });
      const code = `const source = "for (let i = 0; i < 500; i++) Deno.statSync('main.ts'); postMessage('done')";
        const url = "data:application/javascript," + encodeURIComponent(source);
        await Promise.all([1, 2, 3, 4].map(() => new Promise((resolve) => {
          const worker = new Worker(url, { type: "module" });
          worker.onmessage = () => { worker.terminate(); resolve(undefined) };
        })));
        console.log("all");`;
      expect(await runDeno(code, door.socket)).toMatchObject({ code: 0, stdout: "all\n" });
      expect(asked).toBeGreaterThanOrEqual(2000);
      expect(door.fault).toBeUndefined();
    });
  });
});
