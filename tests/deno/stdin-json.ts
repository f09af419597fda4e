// flags:
// input: {"a":[1,2]}
console.log((await new Response(Deno.stdin.readable).json()).a);
