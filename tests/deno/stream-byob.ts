// flags:
const bytes = new Uint8Array([1, 2, 3, 4, 5]);
const stream = new ReadableStream({ type: "bytes", start(c) { c.enqueue(bytes); c.close(); } });
const reader = stream.getReader({ mode: "byob" });
const first = await reader.read(new Uint8Array(2));
console.log(first.done, [...first.value!]);
const rest = await reader.read(new Uint8Array(8));
console.log(rest.done, [...rest.value!]);
const end = await reader.read(new Uint8Array(1));
console.log(end.done, end.value?.length);
try { new ReadableStream().getReader({ mode: "byob" }); } catch (error) { console.log((error as Error).name); }
