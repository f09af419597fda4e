import { expect, test } from "vitest";
import { fail, ok } from "../../core/domain/failure.ts";
import { createCallQueue } from "../life/call-queue.ts";
import { createLogRing } from "../link/log-ring.ts";
import type { PluginLink } from "../link/plugin-link.ts";
import { liveCalls } from "../service/live-calls.ts";
import { hearPlugin } from "./hear-plugin.ts";
import type { OfferParts } from "./offer-parts.ts";

/** A plugin of which only what is asked here is there; `alive` is whether it still answers anything. */
function scripted(alive: boolean) {
  const seen = { held: 0, killed: Promise.withResolvers<void>(), nowMs: 0 };
  const link = { answers: async () => alive } as unknown as PluginLink;
  const incarnation = {
    link,
    onExit: () => () => {},
    exited: new Promise(() => {}),
    kill: () => seen.killed.resolve(),
  };
  const queue = createCallQueue("p", 1, 0);
  const supervisor = {
    acquire: async () => {
      seen.held += 1;
      return ok({ incarnation, release: () => (seen.held -= 1) });
    },
  };
  const parts = {
    manifest: { name: "p" },
    supervisor,
    queue,
    calls: liveCalls(),
    artifact: async () => fail("not_found", "none"),
    log: createLogRing(() => 0),
    now: () => seen.nowMs,
  } as unknown as OfferParts;
  return { parts, queue, seen };
}

type Ask = (link: PluginLink, signal: AbortSignal) => AsyncIterable<number>;
const live = () => new AbortController().signal;

async function* silent(_link: PluginLink, signal: AbortSignal): AsyncGenerator<number> {
  await new Promise<void>((done) => signal.addEventListener("abort", () => done()));
}

async function collect({ parts, queue }: ReturnType<typeof scripted>, ask: Ask, silenceMs: number, wholeMs: number) {
  const items = [];
  for await (const item of hearPlugin(parts, { what: "a thing", queue, silenceMs, wholeMs, ask }, live())) {
    items.push(item.ok ? item.value : item.failure);
  }
  return items;
}

test("one that is silent is not waited for, and is killed when it gives no sign of life", async () => {
  const plugin = scripted(false);
  expect(await collect(plugin, silent, 20, 1_000)).toMatchObject([
    { code: "timed_out", message: 'a thing of plugin "p" said nothing for 0.02 s' },
  ]);
  await plugin.seen.killed.promise;
  expect(plugin.seen.held).toBe(0);
});

test("one that goes on and on is ended when its time is over", async () => {
  const plugin = scripted(true);
  const endless: Ask = async function* () {
    for (let number = 1; ; number++) {
      plugin.seen.nowMs += 400;
      yield number;
    }
  };
  const items = await collect(plugin, endless, 1_000, 1_000);
  expect(items.slice(0, 2)).toEqual([1, 2]);
  expect(items.at(-1)).toMatchObject({ code: "timed_out", message: 'a thing of plugin "p" was not done after 1 s' });
});

test("whoever leaves early cancels the question, lets the process go and gives its place back", async () => {
  const { parts, queue, seen } = scripted(true);
  const ended = Promise.withResolvers<void>();
  const ask: Ask = async function* (_link, signal) {
    signal.addEventListener("abort", () => ended.resolve());
    yield 1;
    yield 2;
  };
  const question = { what: "a thing", queue, silenceMs: 1_000, wholeMs: 1_000, ask };
  for await (const item of hearPlugin(parts, question, live())) {
    expect(item).toEqual(ok(1));
    const another = hearPlugin(parts, question, live());
    expect((await another.next()).value).toMatchObject({ ok: false, failure: { code: "exhausted" } });
    break;
  }
  await ended.promise;
  expect(seen.held).toBe(0);
  expect(await collect({ parts, queue, seen }, ask, 1_000, 1_000)).toEqual([1, 2]);
});
