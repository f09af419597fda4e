// flags: --allow-read=. --allow-write=.
await Deno.writeTextFile("fresh.txt", "x", { createNew: true });
try {
  await Deno.writeTextFile("fresh.txt", "y", { createNew: true });
} catch (error) {
  console.log((error as Error).name, error instanceof Deno.errors.AlreadyExists);
}
console.log(await Deno.readTextFile("fresh.txt"));
