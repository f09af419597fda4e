// flags:
for (const value of [() => {}, Symbol("s"), { f() {} }, new WeakMap(), Promise.resolve()]) {
  try {
    structuredClone(value);
    console.log("cloned");
  } catch (error) {
    console.log((error as Error).name, error instanceof DOMException);
  }
}
class Point {
  x = 1;
}
console.log(structuredClone(new Point()) instanceof Point, structuredClone(new Point()));
const buffer = new ArrayBuffer(8);
const moved = structuredClone(buffer, { transfer: [buffer] });
console.log(moved.byteLength, buffer.byteLength);
