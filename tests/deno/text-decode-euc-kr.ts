// flags:
const decoder = new TextDecoder("euc-kr");
console.log(decoder.encoding, decoder.decode(new Uint8Array([176, 161])));
console.log(decoder.decode(new Uint8Array([176]), { stream: true }) + decoder.decode(new Uint8Array([161])));
