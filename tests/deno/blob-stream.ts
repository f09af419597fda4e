// flags:
const blob = new Blob(["abc", new Uint8Array([100])]);
const reader = blob.stream().getReader();
const all: number[] = [];
for (let next = await reader.read(); !next.done; next = await reader.read()) all.push(...next.value);
console.log(all, blob.stream() instanceof ReadableStream);
console.log(await new Response(blob.stream()).text(), blob, new File(["x"], "n.txt", { type: "text/plain" }));
