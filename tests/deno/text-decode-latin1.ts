// flags:
console.log(new TextDecoder("latin1").decode(new Uint8Array([0x61, 0xfc, 0x80])), new TextDecoder("latin1").encoding);
