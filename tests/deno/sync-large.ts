// flags: --allow-read=. --allow-write=.
const bytes = new Uint8Array(2_500_000).map((_, at) => at % 251);
{
  using file = Deno.openSync("large.bin", { write: true, create: true });
  console.log(file.writeSync(bytes));
}
const read = Deno.readFileSync("large.bin");
console.log(read.length, read.every((byte, at) => byte === at % 251));
