// flags: --allow-read=/tmp --allow-write=/tmp
const folder = await Deno.makeTempDir();
console.log(((await Deno.stat(folder)).mode ?? 0).toString(8));
const file = await Deno.makeTempFile({ dir: folder });
console.log(file.startsWith(`${folder}/`), (await Deno.stat(file)).size);
await Deno.remove(folder, { recursive: true });
