// flags:
console.log("before");
setTimeout(() => console.log("never"), 0);
Deno.exit(7);
console.log("never");
