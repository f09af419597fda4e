// flags:
const stream = new CompressionStream("deflate");
const writer = stream.writable.getWriter();
void writer.write(new TextEncoder().encode("one "));
void writer.write(new TextEncoder().encode("two"));
void writer.close();
const unpacked = stream.readable.pipeThrough(new DecompressionStream("deflate")).pipeThrough(new TextDecoderStream());
console.log((await Array.fromAsync(unpacked)).join(""));
try { await new Response(ReadableStream.from(["text" as unknown as Uint8Array<ArrayBuffer>]).pipeThrough(new CompressionStream("gzip"))).bytes(); } catch (error) { console.log((error as Error).name); }
