// flags: --allow-read=.
async function* walk(path: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(path)) {
    const name = `${path}/${entry.name}`;
    if (entry.isDirectory) yield* walk(name);
    else yield name;
  }
}
console.log((await Array.fromAsync(walk("folder"))).sort().join());
