// flags: --allow-read
for (const make of [() => Deno.makeTempFile(), () => Deno.makeTempDir({ dir: "folder" })])
  await make().catch((error) => console.log(error.name));
