// flags:
const decoder = new TextDecoder("iso-8859-2");
console.log(decoder.encoding, decoder.decode(new Uint8Array([177, 230])));
console.log(decoder.decode(new Uint8Array([177]), { stream: true }) + decoder.decode(new Uint8Array([230])));
