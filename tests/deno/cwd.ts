// flags: --allow-read
console.log(Deno.cwd());
