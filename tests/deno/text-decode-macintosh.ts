// flags:
const decoder = new TextDecoder("macintosh");
console.log(decoder.encoding, decoder.decode(new Uint8Array([138, 202])));
console.log(decoder.decode(new Uint8Array([138]), { stream: true }) + decoder.decode(new Uint8Array([202])));
