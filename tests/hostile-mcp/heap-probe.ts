import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** Makes a Node process say where its inspector listens, which is what `openHeapProbe` reads. */
export const PROBED = "--inspect=127.0.0.1:0";

/** Looks into another Node process. */
export type HeapProbe = {
  /** What it holds on to after a full collection, bytes: heap and what is kept outside of it. */
  heldBytes(): Promise<number>;
  close(): void;
};

/** @param child was started with `PROBED`; its standard error is read from here on */
export async function openHeapProbe(child: ChildProcess): Promise<HeapProbe> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  if (child.stderr === null) throw new Error("its standard error is not to be had");
  createInterface({ input: child.stderr }).on("line", (line) => {
    const url = /^Debugger listening on (ws:\S+)/.exec(line)?.[1];
    if (url !== undefined) resolve(url);
  });
  child.once("exit", () => reject(new Error("it ended before its inspector listened")));
  return dialInspector(await promise);
}

async function dialInspector(url: string): Promise<HeapProbe> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (result: Record<string, number>) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error(`no inspector at ${url}`)));
  });
  let ids = 0;
  const ask = (method: string) => {
    ids += 1;
    const { promise, resolve } = Promise.withResolvers<Record<string, number>>();
    waiting.set(ids, resolve);
    socket.send(JSON.stringify({ id: ids, method }));
    return promise;
  };
  return {
    async heldBytes() {
      // Twice: what finalizers let go of is gone with the second.
      await ask("HeapProfiler.collectGarbage");
      await ask("HeapProfiler.collectGarbage");
      const { usedSize = 0, backingStorageSize = 0 } = await ask("Runtime.getHeapUsage");
      return usedSize + backingStorageSize;
    },
    close: () => socket.close(),
  };
}
