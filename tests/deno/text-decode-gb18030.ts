// flags:
const decoder = new TextDecoder("gb18030");
console.log(decoder.encoding, decoder.decode(new Uint8Array([129, 48, 129, 48])));
console.log(decoder.decode(new Uint8Array([129]), { stream: true }) + decoder.decode(new Uint8Array([48, 129, 48])));
