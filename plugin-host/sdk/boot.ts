import { writeSync } from "node:fs";
import { create, fromJsonString, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { type Boot, BootSchema, HelloSchema } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";

/** The descriptor on which the host waits for the one line of Hello. */
const HELLO_DESCRIPTOR = 3;
const MAX_BOOT_BYTES = 64 * 1024;
/** The only form of Boot and Hello that this library speaks. */
const BOOT_VERSION = 1;
/** The majors of clawd.plugin that it speaks. */
const SDK_MAJORS: readonly number[] = [1, 2];
/** Says which library it is, for logs. */
const SDK = "clawd-sdk-node/2";

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

/** The highest major that both sides speak, or why there is none. */
export function chooseMajor({ bootVersion, protocolMajors }: Boot): number | { readonly error: string } {
  if (bootVersion !== BOOT_VERSION) {
    return { error: `${SDK} knows form ${BOOT_VERSION} of Boot, the host speaks form ${bootVersion}` };
  }
  const common = SDK_MAJORS.filter((major) => protocolMajors.includes(major));
  if (common.length > 0) return Math.max(...common);
  const offered = protocolMajors.length === 0 ? "none" : protocolMajors.join(", ");
  return { error: `${SDK} speaks clawd.plugin major ${SDK_MAJORS.join(" and ")}, the host speaks ${offered}` };
}

/** Tells the host that the socket listens, or why it never will. */
export function sayHello(hello: MessageInitShape<typeof HelloSchema>): void {
  const whole = create(HelloSchema, { bootVersion: BOOT_VERSION, sdk: SDK, ...hello });
  writeSync(HELLO_DESCRIPTOR, `${toJsonString(HelloSchema, whole, { alwaysEmitImplicit: true })}\n`);
}
