// flags:
const decoder = new TextDecoder("iso-2022-jp");
console.log(decoder.encoding, decoder.decode(new Uint8Array([27, 36, 66, 36, 34, 27, 40, 66])));
console.log(decoder.decode(new Uint8Array([27]), { stream: true }) + decoder.decode(new Uint8Array([36, 66, 36, 34, 27, 40, 66])));
