// flags: --allow-read=/tmp --allow-write=/tmp
const file = await Deno.makeTempFile({ prefix: "a", suffix: ".txt" });
console.log(/^\/tmp\/(?:.*\/)?a[0-9a-f]+\.txt$/.test(file), ((await Deno.stat(file)).mode ?? 0).toString(8));
await Deno.writeTextFile(file, "kept");
console.log(await Deno.readTextFile(file));
await Deno.remove(file);
