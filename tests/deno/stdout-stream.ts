// flags:
await ReadableStream.from(["one\n", "two\n"]).pipeThrough(new TextEncoderStream()).pipeTo(Deno.stdout.writable, { preventClose: true });
console.log("still open");
