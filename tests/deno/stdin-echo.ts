// flags:
// input: through\nand through\n
await Deno.stdin.readable.pipeTo(Deno.stdout.writable);
