// flags:
console.log(new CountQueuingStrategy({ highWaterMark: 3 }).highWaterMark, new CountQueuingStrategy({ highWaterMark: 3 }).size());
const bytes = new ByteLengthQueuingStrategy({ highWaterMark: 10 });
console.log(bytes.highWaterMark, bytes.size(new Uint8Array(4)));
const writer = new WritableStream({}, bytes).getWriter();
console.log(writer.desiredSize);
void writer.write(new Uint8Array(4));
console.log(writer.desiredSize);
try { new ReadableStream({}, { highWaterMark: -1 }); } catch (error) { console.log((error as Error).name); }
