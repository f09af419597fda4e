/** Work that the host of the isolate does for a guest, without the broker. Runs inside the isolate. */

import type { BrokerCalls } from "./broker-call.ts";
import { DOMException } from "./dom-exception.ts";
import { HOST_WORDS, type HostJob, type Json } from "./guest-protocol.ts";

export type HostJobs = {
  /** Rejects with a DOMException or a TypeError, as the web's standards have it. One job of a guest runs after the other. */
  run(job: HostJob): Promise<Json>;
};

const { stringify } = JSON;

/** @param post hands a text to the host */
export function hostJobs(post: (word: string, order: string) => void, broker: BrokerCalls): HostJobs {
  return {
    async run(job) {
      try {
        return await broker.wait((id) => post(HOST_WORDS.job, stringify({ id, ...job })));
      } catch (error) {
        const { name, message } = error as Error;
        throw name.endsWith("Error") && Object.getPrototypeOf(error) === Error.prototype
          ? new DOMException(message, name)
          : error;
      }
    },
  };
}
