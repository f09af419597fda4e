// flags:
const value = await Promise.resolve(5);
console.log(value);
for await (const item of (async function* () {
  yield 1;
  yield 2;
})()) console.log(item);
