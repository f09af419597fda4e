// flags:
const stream = new ReadableStream({ pull(c) { c.enqueue(count += 1); if (count === 5) c.close(); } });
let count = 0;
const seen = [];
for await (const chunk of stream) { seen.push(chunk); if (chunk === 3) break; }
console.log(seen.join(), stream.locked);
const kept = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close(); } });
for await (const chunk of kept.values({ preventCancel: true })) { console.log(chunk); break; }
console.log((await kept.getReader().read()).value);
