// flags:
import { Buffer } from "node:buffer";
const buffer = Buffer.from("h\u00e9llo");
console.log(buffer.toString("hex"), buffer.toString("base64"), buffer.length, Buffer.byteLength("\u20ac"));
console.log(Buffer.concat([Buffer.from([1, 2]), Buffer.alloc(2, 7)]).join(), buffer.subarray(0, 1).toString());
console.log(Buffer.from("aGk=", "base64").toString(), Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.isBuffer(new Uint8Array(1)));
const numbers = Buffer.alloc(8);
numbers.writeUInt32BE(0xdeadbeef, 0);
numbers.writeInt16LE(-2, 4);
console.log(numbers.readUInt32BE(0).toString(16), numbers.readInt16LE(4), numbers.indexOf(0xad), numbers.equals(Buffer.from(numbers)));
