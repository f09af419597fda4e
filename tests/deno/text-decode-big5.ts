// flags:
const decoder = new TextDecoder("big5");
console.log(decoder.encoding, decoder.decode(new Uint8Array([167, 65])));
console.log(decoder.decode(new Uint8Array([167]), { stream: true }) + decoder.decode(new Uint8Array([65])));
