// The scripted model server on a thread of its own: the daemon must not wait for the client that shares our loop.
import { parentPort, Worker, workerData } from "node:worker_threads";
import { type ModelLoop, startModelServer } from "../tests/kit/model-server.ts";

export type ModelThread = { readonly url: string; close(): Promise<void> };

export async function startModelThread(script: ModelLoop): Promise<ModelThread> {
  const worker = new Worker(new URL(import.meta.url), { workerData: script });
  const url = await new Promise<string>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  return {
    url,
    async close() {
      await worker.terminate();
    },
  };
}

if (parentPort !== null) {
  const server = await startModelServer(workerData);
  parentPort.postMessage(server.url);
}
