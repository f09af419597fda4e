// flags: --allow-read=.
const bytes = await Deno.readFile("bytes.bin");
console.log(bytes, bytes instanceof Uint8Array, bytes.byteLength);
