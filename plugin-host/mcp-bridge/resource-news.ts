import type { McpSession } from "./mcp-session.ts";

/** Resources whose changes are heard of. */
const MAX_SUBSCRIPTIONS = 64;
/** Those who follow resources at once. */
const MAX_FOLLOWERS = 64;

/** Who hears that a resource of one server changed. */
export type ResourceNews = {
  /** The server says so; an empty address is the list of them. */
  changed(uri: string): void;
  /** Has the server tell of a resource from now on. Throws what the library throws, and when it tells of too many. */
  subscribe(session: McpSession, uri: string, signal: AbortSignal): Promise<void>;
  /**
   * Tells of these and of the list, until the signal aborts: first of the list, as soon as all of them are followed. Throws as
   * `subscribe` does.
   */
  follow(session: McpSession, uris: readonly string[], tell: (uri: string) => void, signal: AbortSignal): Promise<void>;
};

export function openResourceNews(): ResourceNews {
  const subscribed = new Set<string>();
  const followers = new Set<(uri: string) => void>();
  /** How many follow it; what was merely read stays subscribed for the log. */
  const followed = new Map<string, number>();

  async function subscribe(session: McpSession, uri: string, signal: AbortSignal): Promise<void> {
    if (subscribed.has(uri)) return;
    if (subscribed.size >= MAX_SUBSCRIPTIONS)
      throw new Error(`it is heard of ${MAX_SUBSCRIPTIONS} resources at most, and there are as many`);
    subscribed.add(uri);
    try {
      await session.ask("resources/subscribe", { uri }, { signal });
    } catch (cause) {
      subscribed.delete(uri);
      throw cause;
    }
  }

  async function leave(session: McpSession, uri: string): Promise<void> {
    const left = (followed.get(uri) ?? 1) - 1;
    if (left > 0) {
      followed.set(uri, left);
      return;
    }
    followed.delete(uri);
    if (!subscribed.delete(uri)) return;
    // A server that does not let go tells of what nobody hears.
    await session.ask("resources/unsubscribe", { uri }).catch((cause: unknown) => {
      console.error(`warning: the resource ${uri} may be told of still:`, cause);
    });
  }

  return {
    changed(uri) {
      for (const tell of followers) tell(uri);
    },
    subscribe,
    async follow(session, uris, tell, signal) {
      if (followers.size >= MAX_FOLLOWERS) throw new Error(`${MAX_FOLLOWERS} follow its resources already`);
      const wanted = new Set(uris);
      const mine = (uri: string) => {
        if (uri === "" || wanted.has(uri)) tell(uri);
      };
      const begun: string[] = [];
      followers.add(mine);
      try {
        for (const uri of wanted) {
          await subscribe(session, uri, signal);
          followed.set(uri, (followed.get(uri) ?? 0) + 1);
          begun.push(uri);
        }
        tell("");
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
          if (signal.aborted) resolve();
        });
      } finally {
        followers.delete(mine);
        for (const uri of begun) await leave(session, uri);
      }
    },
  };
}
