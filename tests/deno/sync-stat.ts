// flags: --allow-read=.
const { isFile, isDirectory, size, mtime } = Deno.statSync("notes.txt");
console.log(isFile, isDirectory, size, mtime instanceof Date);
console.log(Deno.statSync("folder").isDirectory, Deno.lstatSync("link-to-notes").isSymlink);
