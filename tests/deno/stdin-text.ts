// flags:
// input: whole text
console.log(await new Response(Deno.stdin.readable).text());
