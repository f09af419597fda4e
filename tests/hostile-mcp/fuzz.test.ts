import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { connectTo, type McpSession } from "../../plugin-host/mcp-bridge/mcp-session.ts";
import { offerOf } from "../../plugin-host/mcp-bridge/offer.ts";
import { partsOf } from "../../plugin-host/mcp-bridge/result-parts.ts";
import { transportsTo } from "../../plugin-host/mcp-bridge/transport.ts";
import type { Host } from "../../plugin-host/sdk/plugin.ts";
import { FUZZ_LIMIT_MS, MESSAGES, MIB, SEED } from "./fuzz-size.ts";

/** Lives of a server at least; each costs the start of a process. */
const LIVES = 8;
const CALLS_A_LIFE = 20;
/** Few enough that "initialize" is answered well in most lives. */
const BEFORE_EACH_ANSWER = Math.min(100, Math.ceil(MESSAGES / LIVES / CALLS_A_LIFE));
/** What may be held on to beside what was held after the first fifth, MiB. Resident memory grows with what a heap once needed. */
const HELD_GROWTH_LIMIT_MIB = 24;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What is held on to after a full collection, bytes. */
function heldBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const artifacts = { write: async () => ({ id: "a1" }) };

async function connect(seed: number, heard: { questions: number; ended: boolean }): Promise<McpSession> {
  const settings = {
    ...({
      server: "fuzz",
      transport: "stdio",
      env: {},
      url: "",
      headers: {},
      roots: ["/tmp"],
      samples: true,
      login: undefined,
    } as const),
    command: ["node", join(import.meta.dirname, "fuzz-server.mjs"), String(seed), String(BEFORE_EACH_ANSWER)],
    ...{ silenceMs: 5_000, callMs: 20_000, atOnce: 1 },
  };
  const parts = { env: process.env, nodeBinary: process.execPath, fetch, auth: undefined };
  const quiet = { onTrouble: () => {}, onLog: () => {}, onResource: () => {}, onChange: () => {} };
  const onQuestion = async () => {
    heard.questions += 1;
    return { action: "decline" } as const;
  };
  const onSample = async () => ({ role: "assistant", content: { type: "text", text: "" }, model: "none" }) as const;
  const onEnd = () => {
    heard.ended = true;
  };
  return connectTo(
    settings,
    transportsTo(settings, parts),
    { ...quiet, onQuestion, onSample, onEnd },
    { excuse: new Set() },
  );
}

test(
  `${MESSAGES} messages that no server should say break nothing: each request ends, and memory does not grow`,
  async () => {
    const outcomes = { answered: 0, failed: 0, refused: 0, lives: 0, questions: 0 };
    let heldAtStart = 0;
    const startedMs = performance.now();
    let slowestMs = 0;
    let said = 0;
    for (let life = 0; said < MESSAGES; life += 1) {
      const heard = { questions: 0, ended: false };
      let session: McpSession;
      try {
        session = await connect(SEED * 1_000_003 + life, heard);
      } catch {
        // What it said in place of "initialize" was taken for its answer.
        outcomes.refused += 1;
        said += BEFORE_EACH_ANSWER;
        continue;
      }
      outcomes.lives += 1;
      for (let call = 0; call < CALLS_A_LIFE && said < MESSAGES && !heard.ended; call += 1) {
        const startedMs = performance.now();
        const asking =
          call % 5 === 4
            ? offerOf(session, 1_000)
            : session
                .ask("tools/call", { name: "act", arguments: {} })
                .then((answer) => partsOf(answer, { artifacts } as unknown as Host));
        await asking.then(
          () => (outcomes.answered += 1),
          (cause: unknown) => {
            expect(cause).toBeInstanceOf(Error);
            outcomes.failed += 1;
          },
        );
        slowestMs = Math.max(slowestMs, performance.now() - startedMs);
        said += BEFORE_EACH_ANSWER;
      }
      outcomes.questions += heard.questions;
      await session.close();
      if (heldAtStart === 0 && said >= MESSAGES / 5) heldAtStart = heldBytes();
    }
    const grownMib = (heldBytes() - heldAtStart) / MIB;
    console.info(
      `fuzz of a bridge's session: ${said} in ${Math.round((performance.now() - startedMs) / 1_000)} s,`,
      outcomes,
      `slowest ${Math.round(slowestMs)} ms, +${grownMib.toFixed(1)} MiB`,
    );
    expect(outcomes.answered).toBeGreaterThan(0);
    expect(grownMib).toBeLessThan(HELD_GROWTH_LIMIT_MIB);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("isError");
  },
  FUZZ_LIMIT_MS,
);
