// flags:
const bytes = (text: string) => new TextEncoder().encode(text);
console.log(1);
Deno.stdout.writeSync(bytes("2\n"));
console.log(3);
await Deno.stdout.write(bytes("4\n"));
console.log(5);
