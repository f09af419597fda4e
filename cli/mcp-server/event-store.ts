import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

/** Messages kept for one client, and their bytes as JSON; the newest one is kept whatever its size. */
const EVENTS_MAX = 512;
const BYTES_MAX = 2 * 1024 * 1024;

type Kept = {
  readonly eventId: string;
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
};

/** What one client was sent lately: whoever lost a stream takes it up behind the last message that they have. */
export function recentEvents(): EventStore {
  const kept: Kept[] = [];
  let bytes = 0;
  let last = 0;
  return {
    async storeEvent(streamId, message) {
      last += 1;
      const one = { eventId: String(last), streamId, message, bytes: JSON.stringify(message).length };
      kept.push(one);
      bytes += one.bytes;
      while (kept.length > 1 && (kept.length > EVENTS_MAX || bytes > BYTES_MAX)) bytes -= kept.shift()?.bytes ?? 0;
      return one.eventId;
    },
    async getStreamIdForEventId(eventId) {
      return kept.find((one) => one.eventId === eventId)?.streamId;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const at = kept.findIndex(({ eventId }) => eventId === lastEventId);
      const streamId = kept[at]?.streamId;
      // What was forgotten meanwhile is asked for again from the beginning.
      if (streamId === undefined) throw new Error("that message is not kept any more");
      for (const one of kept.slice(at + 1)) {
        // The first message of a stream is empty: it only names where to take it up.
        if (one.streamId === streamId && Object.keys(one.message).length > 0) await send(one.eventId, one.message);
      }
      return streamId;
    },
  };
}
