// flags:
// input: 1 2 3\n4 5
const text = await new Response(Deno.stdin.readable).text();
console.log(text.split(/\s+/).filter((word) => word !== "").map(Number).reduce((sum, number) => sum + number, 0));
