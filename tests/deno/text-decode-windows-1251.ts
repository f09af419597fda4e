// flags:
const decoder = new TextDecoder("windows-1251");
console.log(decoder.encoding, decoder.decode(new Uint8Array([207, 240])));
console.log(decoder.decode(new Uint8Array([207]), { stream: true }) + decoder.decode(new Uint8Array([240])));
