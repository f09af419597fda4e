// flags:
const encoder = new TextEncoder();
console.log(encoder.encoding, encoder.encode("aü€😀"), encoder.encode(), encoder.encode("\ud800"));
const target = new Uint8Array(4);
console.log(encoder.encodeInto("aü€", target), target);
