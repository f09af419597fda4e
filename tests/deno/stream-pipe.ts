// flags:
const got: unknown[] = [];
await ReadableStream.from([1, 2, 3]).pipeTo(new WritableStream({ write(chunk) { got.push(chunk); } }));
console.log(got);
const controller = new AbortController();
const endless = new ReadableStream({ pull(c) { c.enqueue("x"); } });
let written = 0;
const sink = new WritableStream({ write() { written += 1; if (written === 3) controller.abort(); } });
try { await endless.pipeTo(sink, { signal: controller.signal }); } catch (error) { console.log((error as Error).name, written >= 3); }
