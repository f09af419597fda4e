// flags:
try {
  await fetch("http://127.0.0.1:8099/");
} catch (error) {
  console.log((error as Error).name, error instanceof Deno.errors.NotCapable);
}
await fetch("https://example.com/");
