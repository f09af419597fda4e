// flags:
console.log("a");
Deno.exit();
