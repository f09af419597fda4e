// flags:
const bytes = new TextEncoder().encode("grün 😀 ende");
const pieces = new ReadableStream<Uint8Array<ArrayBuffer>>({ start(c) { for (const byte of bytes) c.enqueue(new Uint8Array([byte])); c.close(); } });
console.log((await Array.fromAsync(pieces.pipeThrough(new TextDecoderStream()))).join("|"));
const texts = ReadableStream.from(["a\ud83d", "\ude00b", "\ud83d"]).pipeThrough(new TextEncoderStream());
console.log((await Array.fromAsync(texts)).map((chunk) => [...chunk]));
const stream = new TextDecoderStream("utf-16le", { fatal: true });
console.log(stream.encoding, stream.fatal, stream.ignoreBOM, new TextEncoderStream().encoding);
