// flags:
async function* numbers() { yield 1; yield 2; }
console.log(await Array.fromAsync(ReadableStream.from(numbers())), await Array.fromAsync(ReadableStream.from(["x", "y"])));
try { ReadableStream.from(5 as unknown as string[]); } catch (error) { console.log((error as Error).name); }
