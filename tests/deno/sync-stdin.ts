// flags:
// input: abcdefghij
const into = new Uint8Array(4);
for (let count = Deno.stdin.readSync(into); count !== null; count = Deno.stdin.readSync(into))
  console.log(count, new TextDecoder().decode(into.subarray(0, count)));
