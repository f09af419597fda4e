import { writeSync } from "node:fs";
import { create, fromJsonString, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { type Boot, BootSchema, HelloSchema } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";

/** The descriptor on which the host waits for the one line of Hello. */
const HELLO_DESCRIPTOR = 3;
const MAX_BOOT_BYTES = 64 * 1024;
/** The only form of Boot and Hello, and the only major of clawd.plugin, that this library speaks. */
export const BOOT_VERSION = 1;
export const PROTOCOL_MAJOR = 1;

/**
 * Reads the host's first line from standard input and keeps reading: the end of standard input means that the host is
 * gone, and `onHostGone` is called, once. Rejects when the input ends before a line, or when the line is no Boot.
 */
export function readBoot(input: NodeJS.ReadStream, onHostGone: () => void): Promise<Boot> {
  const { promise, resolve, reject } = Promise.withResolvers<Boot>();
  let head: Buffer | undefined = Buffer.alloc(0);
  input.on("data", (chunk: Buffer) => {
    if (head === undefined) return;
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(0x0a);
    if (end < 0 && head.byteLength <= MAX_BOOT_BYTES) return;
    const line = head.subarray(0, Math.max(end, 0)).toString("utf8");
    head = undefined;
    try {
      // A newer host may say more than this library knows.
      resolve(fromJsonString(BootSchema, line, { ignoreUnknownFields: true }));
    } catch (cause) {
      reject(new Error("the first line on standard input is not a Boot line", { cause }));
    }
  });
  const gone = () => {
    reject(new Error("standard input ended before the Boot line"));
    onHostGone();
  };
  input.once("end", gone);
  input.once("error", gone);
  return promise;
}

/** Tells the host that the socket listens, or why it never will. */
export function sayHello(hello: MessageInitShape<typeof HelloSchema>): void {
  writeSync(
    HELLO_DESCRIPTOR,
    `${toJsonString(HelloSchema, create(HelloSchema, hello), { alwaysEmitImplicit: true })}\n`,
  );
}
