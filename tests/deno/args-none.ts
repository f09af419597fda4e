// flags:
console.log(Deno.args);
