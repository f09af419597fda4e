// flags:
const decoder = new TextDecoder("ibm866");
console.log(decoder.encoding, decoder.decode(new Uint8Array([128, 224])));
console.log(decoder.decode(new Uint8Array([128]), { stream: true }) + decoder.decode(new Uint8Array([224])));
