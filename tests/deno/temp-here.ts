// flags: --allow-read=. --allow-write=.
const folder = await Deno.makeTempDir({ dir: "folder", prefix: "p-" });
console.log(/^folder\/p-[0-9a-f]+$/.test(folder), (await Deno.stat(folder)).isDirectory);
console.log(new Set(await Promise.all([1, 2, 3].map(() => Deno.makeTempFile({ dir: folder })))).size);
