// flags: --allow-read=.
const file = await Deno.stat("notes.txt");
console.log(file.isFile, file.isDirectory, file.isSymlink, file.size, file.mtime instanceof Date);
const folder = await Deno.stat("folder");
console.log(folder.isFile, folder.isDirectory, folder.isSymlink);
const link = await Deno.stat("link-to-notes");
console.log(link.isFile, link.isSymlink, link.size);
console.log(((file.mode ?? 0) & 0o777).toString(8));
