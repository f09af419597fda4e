// flags: --allow-env
for (const name of ["", "A=B", "A\0B"]) {
  try {
    Deno.env.set(name, "x");
    console.log("set");
  } catch (error) {
    console.log((error as Error).name);
  }
}
