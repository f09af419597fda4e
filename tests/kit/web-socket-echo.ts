import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** What RFC 6455 appends to a key before it is hashed. */
const KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;

type Frame = { readonly opcode: number; readonly data: Buffer };

/** Takes one masked, unfragmented frame off the front; undefined when it has not come whole. */
function readFrame(bytes: Buffer): { readonly frame: Frame; readonly rest: Buffer } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const head = 2 + lengthBytes + 4;
  if (bytes.length < head) return undefined;
  const length =
    lengthBytes === 0 ? short : Number(bytes.readUIntBE(lengthBytes === 8 ? 4 : 2, lengthBytes === 8 ? 6 : 2));
  if (bytes.length < head + length) return undefined;
  const mask = bytes.subarray(head - 4, head);
  const data = Buffer.from(bytes.subarray(head, head + length)).map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return { frame: { opcode: (bytes[0] ?? 0) & 0x0f, data: Buffer.from(data) }, rest: bytes.subarray(head + length) };
}

/** One whole frame as a server writes it. */
export function webSocketFrame(opcode: number, data: Buffer): Buffer {
  const head =
    data.length < 126
      ? Buffer.from([0x80 | opcode, data.length])
      : data.length < 65_536
        ? Buffer.from([0x80 | opcode, 126, data.length >> 8, data.length & 0xff])
        : Buffer.concat([Buffer.from([0x80 | opcode, 127]), Buffer.alloc(8)]);
  if (data.length >= 65_536) head.writeUIntBE(data.length, 4, 6);
  return Buffer.concat([head, data]);
}

/**
 * Answers an upgrade with a WebSocket that sends back what it gets and agrees on the first subprotocol. "close 4001" makes
 * it say goodbye with that code, "drop" end without, "flood 5000000" send so many bytes at once.
 */
export function echoWebSocket(request: IncomingMessage, socket: Duplex): void {
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${KEY_SUFFIX}`).digest("base64");
  const [protocol] = (request.headers["sec-websocket-protocol"] ?? "").split(/,\s*/);
  const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
  lines.push(`Sec-WebSocket-Accept: ${accept}`, ...(protocol ? [`Sec-WebSocket-Protocol: ${protocol}`] : []), "", "");
  socket.write(lines.join("\r\n"));
  socket.on("error", () => socket.destroy());
  let held = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    held = Buffer.concat([held, bytes]);
    for (let next = readFrame(held); next; next = readFrame(held)) {
      held = Buffer.from(next.rest);
      answer(socket, next.frame);
    }
  });
}

function answer(socket: Duplex, { opcode, data }: Frame): void {
  const [word, number] = opcode === TEXT ? data.toString().split(" ") : [];
  if (opcode === CLOSE) socket.end(webSocketFrame(CLOSE, data));
  else if (word === "drop") socket.destroy();
  else if (word === "close") {
    const code = Buffer.alloc(2);
    code.writeUInt16BE(Number(number));
    socket.write(webSocketFrame(CLOSE, code));
  } else if (word === "flood") socket.write(webSocketFrame(BINARY, Buffer.alloc(Number(number))));
  else if (opcode === TEXT || opcode === BINARY) socket.write(webSocketFrame(opcode, data));
}
