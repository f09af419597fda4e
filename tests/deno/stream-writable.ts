// flags:
const log: unknown[] = [];
const stream = new WritableStream({ start() { log.push("start"); }, write(chunk) { log.push(chunk); }, close() { log.push("close"); } });
const writer = stream.getWriter();
await writer.write(1);
await writer.write({ a: 2 });
console.log(stream.locked, writer.desiredSize);
await writer.close();
console.log(log);
try { await writer.write(3); } catch (error) { console.log((error as Error).name); }
