import { setTimeout as delay } from "node:timers/promises";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { Result } from "../trouble.ts";
import type { House } from "./house.ts";

/** Changes that come within this time are looked at as one, milliseconds. */
const LOOK_AFTER_MS = 200;
/** How soon it is looked whether a daemon that went away is there again, milliseconds; each time twice as long, up to the second. */
const RETRY_MS = 500;
const RETRY_LIMIT_MS = 30_000;

export type ListName = "tools" | "prompts" | "resources";

/** Tells the clients of this server which of its lists changed. */
export type ListNews = {
  /** Until the value is called. */
  hear(changed: (list: ListName) => void): () => void;
  /**
   * Begins to watch, and resolves when it is known what there is: what clients are told after that is compared with it. When the
   * daemon goes away it is waited for, since its next one may offer something else; none is started for that.
   */
  watch(): Promise<void>;
  close(): void;
};

/** What of a list clients get to see, as a text to compare by. */
export type Look = () => Promise<Result<string>>;

export type ListNewsPlan = {
  readonly house: House;
  readonly workspace: string;
  readonly looks: Readonly<Record<"tools" | "prompts", Look>>;
  /** Names of the servers whose resources are passed on. */
  readonly servers: () => Promise<Result<readonly string[]>>;
};

export function openListNews({ house, workspace, looks, servers }: ListNewsPlan): ListNews {
  const over = new AbortController();
  const hearers = new Set<(list: ListName) => void>();
  const seen = new Map<ListName, string>();
  /** Servers whose lists of resources are watched. */
  const watched = new Map<string, AbortController>();
  let watching: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function tell(list: ListName): void {
    for (const changed of hearers) changed(list);
  }

  async function look(list: ListName, ask: Look): Promise<void> {
    const now = await ask();
    if (!now.ok) return;
    const before = seen.get(list);
    seen.set(list, now.value);
    if (before !== undefined && before !== now.value) tell(list);
  }

  async function lookAtServers(): Promise<void> {
    const named = await servers();
    if (!named.ok || over.signal.aborted) return;
    const isOther = named.value.length !== watched.size || named.value.some((name) => !watched.has(name));
    for (const [name, end] of watched) if (!named.value.includes(name)) end.abort();
    for (const name of named.value) if (!watched.has(name)) void watchServer(name);
    if (isOther && seen.has("resources")) tell("resources");
    seen.set("resources", "");
  }

  async function watchServer(name: string): Promise<void> {
    const end = new AbortController();
    watched.set(name, end);
    const signal = AbortSignal.any([over.signal, end.signal]);
    let isBegun = false;
    for await (const item of house.stream(McpService.method.followResources, { name, workspace }, signal)) {
      if (!item.ok) break;
      if (isBegun) tell("resources");
      isBegun = true;
    }
    watched.delete(name);
  }

  async function lookAtAll(): Promise<void> {
    await Promise.all([look("tools", looks.tools), look("prompts", looks.prompts), lookAtServers()]);
  }

  function lookSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void lookAtAll();
    }, LOOK_AFTER_MS);
    timer.unref();
  }

  async function watchOffers(): Promise<void> {
    for await (const item of house.stream(SessionService.method.watchOffers, { workspace }, over.signal)) {
      if (!item.ok) break;
      lookSoon();
    }
    watching = undefined;
    void watchAgain();
  }

  /** Until a daemon is there, or somebody asked for a list, which started one. */
  async function watchAgain(): Promise<void> {
    for (let waitMs = RETRY_MS; watching === undefined; waitMs = Math.min(2 * waitMs, RETRY_LIMIT_MS)) {
      // Given up when this server closes, and nothing that a program has to stay for.
      await delay(waitMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
      if (over.signal.aborted) return;
      if (watching === undefined && (await house.isThere())) await watch();
    }
  }

  async function watch(): Promise<void> {
    if (watching === undefined && !over.signal.aborted) {
      watching = lookAtAll();
      void watchOffers();
    }
    await watching;
  }

  return {
    hear(changed) {
      hearers.add(changed);
      return () => hearers.delete(changed);
    },
    watch,
    close() {
      over.abort();
      clearTimeout(timer);
      hearers.clear();
    },
  };
}
