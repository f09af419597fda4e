// flags:
const given = AbortSignal.abort("because");
console.log(given.aborted, given.reason);
const [a, b] = [new AbortController(), new AbortController()];
const any = AbortSignal.any([a.signal, b.signal]);
any.addEventListener("abort", () => console.log("any", any.reason));
b.abort("b");
a.abort("a");
const timed = AbortSignal.timeout(5);
await new Promise((resolve) => timed.addEventListener("abort", resolve));
console.log(timed.reason.name);
try {
  new (AbortSignal as unknown as new () => AbortSignal)();
} catch (error) {
  console.log((error as Error).name);
}
