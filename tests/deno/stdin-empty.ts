// flags:
console.log(await Deno.stdin.read(new Uint8Array(4)), Deno.stdin.isTerminal());
