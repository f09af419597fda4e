// flags: --allow-read=.
try {
  await Deno.stat("missing");
} catch (error) {
  console.log((error as Error).name, error instanceof Deno.errors.NotFound);
}
