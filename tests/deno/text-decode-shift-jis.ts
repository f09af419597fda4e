// flags:
const decoder = new TextDecoder("shift_jis");
console.log(decoder.encoding, decoder.decode(new Uint8Array([130, 160, 65])));
console.log(decoder.decode(new Uint8Array([130]), { stream: true }) + decoder.decode(new Uint8Array([160, 65])));
