// flags: --allow-read=. --allow-write=.
await Deno.remove("notes.txt");
await Deno.mkdir("hollow");
await Deno.remove("hollow");
for (const path of ["notes.txt", "hollow"]) {
  try {
    await Deno.stat(path);
  } catch (error) {
    console.log(path, (error as Error).name);
  }
}
try {
  await Deno.remove("folder");
} catch (error) {
  console.log((error as Error).name);
}
await Deno.remove("folder", { recursive: true });
try {
  await Deno.remove("folder");
} catch (error) {
  console.log((error as Error).name);
}
