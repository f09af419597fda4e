// flags: --allow-run=no-such-program-here
// needs: bubblewrap
try {
  await new Deno.Command("no-such-program-here").output();
} catch (error) {
  console.log((error as Error).name);
}
