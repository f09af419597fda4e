// flags:
let why;
const stream = new WritableStream({ abort(reason) { why = reason; } });
await stream.abort("stop");
console.log(why);
const writer = stream.getWriter();
await writer.closed.catch((error) => console.log("closed:", error));
await writer.ready.catch((error) => console.log("ready:", error));
const failing = new WritableStream({ write() { throw new RangeError("full"); } }).getWriter();
await failing.write(1).catch((error) => console.log(String(error)));
