// flags:
Deno.exitCode = 9;
console.log(Deno.exitCode);
