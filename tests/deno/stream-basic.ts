// flags:
const stream = new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close(); } });
const reader = stream.getReader();
console.log(stream.locked, await reader.read(), await reader.read(), await reader.read());
await reader.closed;
reader.releaseLock();
console.log(stream.locked);
try { new ReadableStream({ type: "nothing" as "bytes" }); } catch (error) { console.log((error as Error).name); }
