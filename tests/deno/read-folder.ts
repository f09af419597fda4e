// flags: --allow-read=.
try {
  await Deno.readTextFile("folder");
} catch (error) {
  console.log((error as Error).name);
}
