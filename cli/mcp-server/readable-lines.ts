import { Transform, type Writable } from "node:stream";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";

const NEWLINE = 0x0a;

/**
 * Passes on lines that are messages, whole ones. A request that is none by the schema of the protocol, but says who asks, is
 * answered here: the library leaves it alone, and its client would wait for ever. It takes in no more while its
 * client does not read what it is told. A line of more than `limitBytes` goes on in pieces, for the library to end the connection.
 */
export function readableLines(answers: Writable, limitBytes: number): Transform {
  let pieces: Buffer[] = [];
  let heldBytes = 0;

  function take(line: Buffer): Buffer | undefined {
    const id = refusedId(line);
    if (id === undefined) return line;
    const error = { code: ProtocolErrorCode.InvalidRequest, message: "this is no request of the protocol" };
    answers.write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`);
    return undefined;
  }
  const lines = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        const line = take(Buffer.concat([...pieces, chunk.subarray(from, end + 1)]));
        if (line !== undefined) lines.push(line);
        pieces = [];
        heldBytes = 0;
        from = end + 1;
      }
      if (from < chunk.byteLength) {
        pieces.push(chunk.subarray(from));
        heldBytes += chunk.byteLength - from;
      }
      if (heldBytes > limitBytes) {
        for (const piece of pieces) lines.push(piece);
        pieces = [];
        heldBytes = 0;
      }
      if (!answers.writableNeedDrain) return done();
      const goOn = () => {
        for (const event of ["drain", "close", "error"]) answers.off(event, goOn);
        done();
      };
      for (const event of ["drain", "close", "error"]) answers.once(event, goOn);
    },
  });
  return lines;
}

/** The id of what somebody waits for and the library cannot read; undefined for everything else. */
function refusedId(line: Buffer): string | number | undefined {
  const said = parsed(line);
  if (typeof said !== "object" || said === null || !("id" in said) || !("method" in said)) return undefined;
  const { id } = said;
  if (typeof id !== "string" && !(typeof id === "number" && Number.isSafeInteger(id))) return undefined;
  const judges = [isJSONRPCRequest, isJSONRPCNotification, isJSONRPCResultResponse, isJSONRPCErrorResponse];
  return judges.some((isOne) => isOne(said)) ? undefined : id;
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    // The library passes it over, too.
    return undefined;
  }
}
