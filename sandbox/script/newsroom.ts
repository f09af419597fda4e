import type { ScriptNews } from "../../core/domain/admin.ts";

/** Pieces of output that may wait for a slow reader; then the script waits. */
const NEWS_WAITING_MAX = 64;

/** A queue between a script that reports and a client that reads. */
export type Newsroom = {
  publish(news: ScriptNews): void;
  /** Publishes the last news; what comes after it is heard by nobody. */
  exit(code: number): void;
  /** For one reader; ends with the last news. */
  read(): AsyncGenerator<ScriptNews>;
};

/** @param hold is told true when the queue fills up and false when it is empty again */
export function newsroom(hold: (held: boolean) => void): Newsroom {
  let waiting: ScriptNews[] = [];
  let over = false;
  let arrived = Promise.withResolvers<void>();

  function publish(news: ScriptNews): void {
    if (over) return;
    over = news.kind === "exit";
    waiting.push(news);
    if (waiting.length >= NEWS_WAITING_MAX) hold(true);
    arrived.resolve();
  }

  return {
    publish,
    exit: (code) => publish({ kind: "exit", code }),
    async *read() {
      for (;;) {
        await arrived.promise;
        arrived = Promise.withResolvers();
        const batch = waiting;
        waiting = [];
        for (const news of batch) {
          yield news;
          if (news.kind === "exit") return;
        }
        hold(false);
      }
    },
  };
}
