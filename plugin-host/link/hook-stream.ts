import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type HookAnswer,
  HookAnswerSchema,
  type HookEventSchema,
  type StreamHooksRequest,
  StreamHooksRequestSchema,
  type StreamHooksResponse,
} from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { ConnectWall } from "./connect-wall.ts";
import { LinkError } from "./plugin-link.ts";

/** Events without an answer; the next one is refused. */
export const MAX_UNANSWERED = 256;
/** Messages that the plugin has not taken from its socket: one that reads nothing gets no more. */
const MAX_UNSENT = 1024;

export type HookStream = {
  /** Sends one event and waits for its answer, or for the signal, of which the plugin is told. Rejects with `LinkError`. */
  run(event: MessageInitShape<typeof HookEventSchema>, signal: AbortSignal): Promise<HookAnswer>;
  /** False from the moment that it broke, or was found not to be served: events must go another way. */
  isOpen(): boolean;
  unanswered(): number;
  /** Answers that came when nobody waited for them any more. */
  late(): number;
  close(): void;
};

type Waiting = { readonly resolve: (answer: HookAnswer) => void; readonly reject: (cause: LinkError) => void };

/**
 * All hook events of one process over one stream, matched by id, in any order: a slow event holds up no other. It opens
 * with the first event. When it breaks, what waits is rejected: `unserved` when the plugin has no such method.
 */
export function openHookStream(
  dial: (
    requests: AsyncIterable<StreamHooksRequest>,
    signal: AbortSignal,
  ) => AsyncIterable<StreamHooksResponse> | Promise<AsyncIterable<StreamHooksResponse>>,
  wall: ConnectWall,
): HookStream {
  const waiting = new Map<number, Waiting>();
  const outbox = createOutbox();
  const abort = new AbortController();
  let state: "fresh" | "open" | "over" = "fresh";
  let lastId = 0;
  let late = 0;

  const end = (cause: LinkError) => {
    if (state === "over") return;
    state = "over";
    outbox.end();
    abort.abort();
    for (const { reject } of waiting.values()) reject(cause);
    waiting.clear();
  };
  const hear = async () => {
    try {
      for await (const { id, answer } of await dial(outbox.messages, abort.signal)) {
        const waiter = waiting.get(id);
        if (waiter === undefined) late++;
        waiting.delete(id);
        waiter?.resolve(answer ?? create(HookAnswerSchema));
      }
      end(new LinkError("broken", "the plugin ended its stream of hooks", undefined));
    } catch (cause) {
      end(wall.translate(cause));
    }
  };

  return {
    run(event, signal) {
      if (signal.aborted) return Promise.reject(cancelled());
      if (waiting.size >= MAX_UNANSWERED) {
        return Promise.reject(
          new LinkError("broken", `${MAX_UNANSWERED} events wait for the plugin's answer already`, undefined),
        );
      }
      const id = nextId(lastId);
      lastId = id;
      const { promise, resolve, reject } = Promise.withResolvers<HookAnswer>();
      const onAbort = () => {
        waiting.delete(id);
        // An event that never left needs no cancelling.
        if (!outbox.takeBack(id)) outbox.put(0, requestOf({ case: "cancelled", value: id }));
        reject(cancelled());
      };
      signal.addEventListener("abort", onAbort, { once: true });
      waiting.set(id, { resolve, reject });
      if (!outbox.put(id, requestOf({ case: "event", value: { ...event, id } }))) {
        end(new LinkError("broken", "the plugin does not read its stream of hooks", undefined));
      }
      if (state === "fresh") {
        state = "open";
        void hear();
      }
      return promise.finally(() => signal.removeEventListener("abort", onAbort));
    },
    isOpen: () => state !== "over",
    unanswered: () => waiting.size,
    late: () => late,
    close: () => end(new LinkError("broken", "the connection to the plugin is closed", undefined)),
  };
}

function requestOf(kind: MessageInitShape<typeof StreamHooksRequestSchema>["kind"]): StreamHooksRequest {
  return create(StreamHooksRequestSchema, kind === undefined ? {} : { kind });
}

function cancelled(): LinkError {
  return new LinkError("cancelled", "nobody waits for the hook any more", undefined);
}

/** Ids are uint32, 1 and up; after the last comes the first again, whose event is long over. */
function nextId(last: number): number {
  return last >= 0xffff_ffff ? 1 : last + 1;
}

type Outbox = {
  readonly messages: AsyncIterable<StreamHooksRequest>;
  /** False when it is full. */
  put(id: number, message: StreamHooksRequest): boolean;
  /** True when the message with this id had not left and now never will. */
  takeBack(id: number): boolean;
  end(): void;
};

/** What waits to be sent. The transport takes the next one when the socket has room. */
function createOutbox(): Outbox {
  let unsent: { readonly id: number; readonly message: StreamHooksRequest }[] = [];
  let ended = false;
  let wake = () => {};
  async function* leave() {
    for (;;) {
      for (let next = unsent.shift(); next !== undefined; next = unsent.shift()) yield next.message;
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return {
    messages: leave(),
    put(id, message) {
      if (ended || unsent.length >= MAX_UNSENT) return false;
      unsent.push({ id, message });
      wake();
      return true;
    },
    takeBack(id) {
      const before = unsent.length;
      unsent = unsent.filter((one) => one.id !== id);
      return unsent.length < before;
    },
    end() {
      ended = true;
      unsent = [];
      wake();
    },
  };
}
