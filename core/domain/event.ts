import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Event, EventSchema } from "../../proto/gen/clawd/v1/event_pb.ts";

/** One durable, numbered fact of a session: a journal line. */
export type { Event };

/** What happened, before the journal gave it a number and a time. */
export type EventBody = Extract<NonNullable<MessageInitShape<typeof EventSchema>["body"]>, { case: string }>;
