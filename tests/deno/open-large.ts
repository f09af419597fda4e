// flags: --allow-read=. --allow-write=.
const data = new Uint8Array(300_000).map((_, at) => at % 251);
{
  using file = await Deno.create("large.bin");
  let at = 0;
  while (at < data.length) at += await file.write(data.subarray(at));
}
const file = await Deno.open("large.bin");
let sum = 0;
for await (const chunk of file.readable) for (const byte of chunk) sum += byte;
console.log(sum);
