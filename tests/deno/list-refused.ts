// flags: --allow-read=folder
try {
  for await (const entry of Deno.readDir(".")) console.log(entry.name);
} catch (error) {
  console.log((error as Error).name);
}
