// flags:
// input: abcdefghij
const into = new Uint8Array(4);
for (let count = await Deno.stdin.read(into); count !== null; count = await Deno.stdin.read(into))
  console.log(count, new TextDecoder().decode(into.subarray(0, count)));
