// flags:
const log: string[] = [];
const stream = new ReadableStream({ pull(c) { log.push(`pull ${c.desiredSize}`); c.enqueue("x"); } }, { highWaterMark: 3 });
await new Promise((resolve) => setTimeout(resolve, 5));
console.log(log.join());
