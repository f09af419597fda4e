// flags:
const [one, other] = new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close(); } }).tee();
console.log(await Array.fromAsync(one), await Array.fromAsync(other));
