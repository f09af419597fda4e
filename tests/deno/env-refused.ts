// flags:
for (const act of [() => Deno.env.get("PATH"), () => Deno.env.has("PATH"), () => Deno.env.set("A", "b"), () => Deno.env.delete("A"), () => Deno.env.toObject()]) {
  try {
    console.log(act());
  } catch (error) {
    console.log((error as Error).name, error instanceof Deno.errors.NotCapable, error instanceof Error);
  }
}
