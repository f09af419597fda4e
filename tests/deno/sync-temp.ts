// flags: --allow-read=. --allow-write=.
const folder = Deno.makeTempDirSync({ dir: ".", prefix: "pre-", suffix: "-post" });
const file = Deno.makeTempFileSync({ dir: folder, suffix: ".txt" });
console.log(/pre-.*-post$/.test(folder), file.endsWith(".txt"), Deno.statSync(folder).isDirectory, Deno.statSync(file).size);
