// flags:
const decoder = new TextDecoder("koi8-r");
console.log(decoder.encoding, decoder.decode(new Uint8Array([208, 210])));
console.log(decoder.decode(new Uint8Array([208]), { stream: true }) + decoder.decode(new Uint8Array([210])));
