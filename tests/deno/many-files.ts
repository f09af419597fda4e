// flags: --allow-read=. --allow-write=.
await Promise.all(Array.from({ length: 20 }, (_, index) => Deno.writeTextFile(`file-${index}.txt`, `${index}`)));
const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => Deno.readTextFile(`file-${index}.txt`)));
console.log(texts.join());
