// flags: --allow-read=. --allow-write=.
Deno.mkdirSync("made/below", { recursive: true });
console.log(Deno.statSync("made/below").isDirectory);
try {
  Deno.mkdirSync("made");
} catch (error) {
  console.log((error as Error).name);
}
Deno.writeTextFileSync("made/below/file", "x");
try {
  Deno.removeSync("made");
} catch (error) {
  console.log(error instanceof Error);
}
Deno.removeSync("made", { recursive: true });
try {
  Deno.statSync("made");
} catch (error) {
  console.log((error as Error).name);
}
