// flags: --allow-read=. --allow-write=.
await Deno.mkdir("made");
console.log((await Deno.stat("made")).isDirectory);
await Deno.mkdir("a/b/c", { recursive: true });
await Deno.mkdir("a/b/c", { recursive: true });
console.log((await Deno.stat("a/b/c")).isDirectory);
for (const path of ["made", "x/y", "notes.txt"]) {
  try {
    await Deno.mkdir(path);
  } catch (error) {
    console.log(path, (error as Error).name);
  }
}
await Deno.mkdir("shut", { mode: 0o700 });
console.log((((await Deno.stat("shut")).mode ?? 0) & 0o777).toString(8));
