// flags:
const before = performance.now();
await new Promise((resolve) => setTimeout(resolve, 15));
const passed = performance.now() - before;
console.log(passed >= 10, passed < 10_000, typeof performance.timeOrigin);
console.log(Math.abs(Date.now() - (performance.timeOrigin + performance.now())) < 1000);
