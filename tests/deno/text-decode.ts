// flags:
const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xc3, 0xbc, 0xff]);
console.log(JSON.stringify(new TextDecoder().decode(bytes)));
console.log(JSON.stringify(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)));
try {
  new TextDecoder("utf-8", { fatal: true }).decode(bytes);
} catch (error) {
  console.log((error as Error).name);
}
try {
  new TextDecoder("no-such-encoding");
} catch (error) {
  console.log((error as Error).name);
}
const decoder = new TextDecoder();
console.log(decoder.decode(new Uint8Array([0xc3]), { stream: true }) + decoder.decode(new Uint8Array([0xbc])));
console.log(new TextDecoder("utf-16le").decode(new Uint8Array([0x61, 0, 0xfc, 0])), new TextDecoder("UTF8").encoding);
console.log(new TextDecoder().decode(), new TextDecoder().decode(new ArrayBuffer(0)).length);
