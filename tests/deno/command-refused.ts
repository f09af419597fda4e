// flags: --allow-run=echo
try {
  await new Deno.Command("cat").output();
} catch (error) {
  console.log((error as Error).name);
}
await new Deno.Command("sh", { args: ["-c", "echo no"] }).output();
