// flags: --allow-run=echo
// needs: bubblewrap
try {
  await new Deno.Command("echo", { env: { LD_PRELOAD: "/tmp/x.so" } }).output();
} catch (error) {
  console.log((error as Error).name);
}
