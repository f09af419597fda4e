// flags: --allow-read=.
const link = await Deno.lstat("link-to-notes");
console.log(link.isFile, link.isDirectory, link.isSymlink);
const dangling = await Deno.lstat("dangling");
console.log(dangling.isSymlink);
try {
  await Deno.stat("dangling");
} catch (error) {
  console.log((error as Error).name);
}
