// flags:
const upper = new TransformStream({ transform(chunk, c) { c.enqueue(chunk.toUpperCase()); }, flush(c) { c.enqueue("END"); } });
console.log(await Array.fromAsync(ReadableStream.from(["a", "b"]).pipeThrough(upper)));
const { readable, writable } = new TransformStream();
const writer = writable.getWriter();
void writer.write("same");
void writer.close();
console.log(await Array.fromAsync(readable));
const ends = new TransformStream({ transform(chunk, c) { c.enqueue(chunk); if (chunk === 2) c.terminate(); } });
console.log(await Array.fromAsync(ReadableStream.from([1, 2, 3]).pipeThrough(ends)));
