import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { type Event, EventSchema } from "../proto/gen/clawd/v1/event_pb.ts";
import type { Screen } from "./screen.ts";

/** A message as one line of ProtoJSON, zeros and empty lists included, so that a reader finds every field. */
export function protoLine<M extends DescMessage>(schema: M, message: MessageShape<M>): string {
  return JSON.stringify(toJson(schema, message, { alwaysEmitImplicit: true }));
}

export function printProto<M extends DescMessage>(screen: Screen, schema: M, message: MessageShape<M>): void {
  screen.data(`${protoLine(schema, message)}\n`);
}

export function printJson(screen: Screen, value: unknown): void {
  screen.data(`${JSON.stringify(value)}\n`);
}

export function openEventPrinter(screen: Screen): (event: Event) => void {
  return (event) => printProto(screen, EventSchema, event);
}
