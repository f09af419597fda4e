// flags: --allow-read=. --allow-write=.
const files = await Promise.all(Array.from({ length: 20 }, () => Deno.open("notes.txt")));
console.log(new Set((await Promise.all(files.map((file) => file.stat()))).map(({ size }) => size)).size);
for (const file of files) file.close();
