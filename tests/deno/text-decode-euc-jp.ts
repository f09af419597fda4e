// flags:
const decoder = new TextDecoder("euc-jp");
console.log(decoder.encoding, decoder.decode(new Uint8Array([164, 162])));
console.log(decoder.decode(new Uint8Array([164]), { stream: true }) + decoder.decode(new Uint8Array([162])));
