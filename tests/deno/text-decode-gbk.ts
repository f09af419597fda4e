// flags:
const decoder = new TextDecoder("gbk");
console.log(decoder.encoding, decoder.decode(new Uint8Array([196, 227])));
console.log(decoder.decode(new Uint8Array([196]), { stream: true }) + decoder.decode(new Uint8Array([227])));
