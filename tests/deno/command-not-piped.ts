// flags: --allow-run=true --allow-read=.
// needs: bubblewrap
const child = new Deno.Command("true").spawn();
for (const name of ["stdin", "stdout", "stderr"] as const)
  try {
    console.log(child[name]);
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
await child.status;
