// flags:
const bytes = (text: string) => new TextEncoder().encode(text);
console.log(await Deno.stdout.write(bytes("no line end")));
console.log(Deno.stdout.writeSync(bytes("\u00fc|")), Deno.stdout.isTerminal());
await Deno.stderr.write(bytes("careful\n"));
Deno.stderr.writeSync(bytes("very\n"));
