// flags:
console.log(new ReadableStream());
console.log(new WritableStream());
console.log(new TransformStream());
console.log(new ReadableStream({ type: "bytes" }));
console.log(new CountQueuingStrategy({ highWaterMark: 2 }));
