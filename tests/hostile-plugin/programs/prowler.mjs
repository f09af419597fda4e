// A plugin that runs under Node what it is told to, and starts the programs that it was granted. It speaks for itself,
// without a library: what it does with its tokens is nobody's business.
import { writeSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const REFUSALS = /^(E[A-Z]+|ERR_)/;

async function attempt({ code, places }, boot) {
  const attack = new Function("P", "load", "boot", `return (async () => {${code}\n})()`);
  try {
    const got = await attack(places, (name) => process.getBuiltinModule(name), boot);
    return got ? `ESCAPED: ${String(got).slice(0, 300)}` : "refused: nothing there";
  } catch (error) {
    const { code: errno = "", message = "" } = Object(error);
    return `${REFUSALS.test(errno) ? "refused" : "broken"}: ${errno} ${message}`;
  }
}

function frame(message, flags = 0) {
  const data = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(data.length, 1);
  return Buffer.concat([head, data]);
}

async function serve(request, response, boot) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  if (request.url.endsWith("/CallTool")) {
    const { args } = JSON.parse(Buffer.concat(pieces).subarray(5));
    response.writeHead(200, { "content-type": "application/connect+json" });
    response.write(frame({ result: { text: await attempt(args, boot) } }));
    response.end(frame({}, 2));
    return;
  }
  const known = { Initialize: { version: "1.0.0", tools: [{ name: "act" }] }, Shutdown: {} };
  const answer = known[request.url.split("/").at(-1)];
  response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(answer ?? { code: "unimplemented" }));
}

const lines = createInterface({ input: process.stdin });
lines.once("close", () => process.exit(0));
lines.once("line", (line) => {
  const boot = JSON.parse(line);
  createServer((request, response) => void serve(request, response, boot)).listen(boot.listen, () => {
    writeSync(3, `${JSON.stringify({ bootVersion: 1, protocolMajor: 1, wire: "WIRE_CONNECT_JSON" })}\n`);
  });
});
