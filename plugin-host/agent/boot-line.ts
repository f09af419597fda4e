import type { Readable, Writable } from "node:stream";

/** The longest that a plugin's library would read. */
const MAX_BOOT_BYTES = 64 * 1024;

/**
 * Passes on what the daemon writes to the plugin's standard input. In its first line, when that is a Boot line, the two
 * sockets are named as they are called here; all else is passed as it is. The end is passed on too: it is the tether.
 */
export function passBoot(
  from: Readable,
  stdin: Writable,
  sockets: { readonly listen: string; readonly host: string },
): void {
  let head: Buffer | undefined = Buffer.alloc(0);
  const pass = (chunk: Buffer) => {
    if (stdin.writable && !stdin.write(chunk)) {
      from.pause();
      stdin.once("drain", () => from.resume());
    }
  };
  from.on("data", (chunk: Buffer) => {
    if (head === undefined) return pass(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(0x0a);
    if (end < 0 && head.byteLength <= MAX_BOOT_BYTES) return;
    const [line, rest] = [head.subarray(0, Math.max(0, end)), head.subarray(Math.max(0, end))];
    head = undefined;
    pass(Buffer.concat([renameSockets(line, sockets), rest]));
  });
  const over = () => {
    if (head !== undefined && head.byteLength > 0) pass(head);
    stdin.end();
  };
  from.once("end", over);
  from.once("close", over);
}

function renameSockets(line: Buffer, sockets: { readonly listen: string; readonly host: string }): Buffer {
  try {
    const boot: unknown = JSON.parse(line.toString("utf8"));
    if (typeof boot !== "object" || boot === null || !("listen" in boot)) return line;
    return Buffer.from(JSON.stringify({ ...boot, ...sockets }));
  } catch {
    return line;
  }
}
