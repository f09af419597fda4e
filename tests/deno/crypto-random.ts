// flags:
console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()));
console.log(crypto.randomUUID() !== crypto.randomUUID());
const bytes = new Uint8Array(64);
console.log(crypto.getRandomValues(bytes) === bytes, bytes.some((byte) => byte !== 0));
console.log(crypto.getRandomValues(new Uint32Array(4)).length);
for (const wrong of [new Uint8Array(65_537), new Float64Array(1)]) {
  try {
    crypto.getRandomValues(wrong as Uint8Array<ArrayBuffer>);
  } catch (error) {
    console.log((error as Error).name);
  }
}
