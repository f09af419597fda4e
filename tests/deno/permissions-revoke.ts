// flags: --allow-read=folder,notes.txt --allow-env=A,B
const state = async (path: string) => (await Deno.permissions.query({ name: "read", path })).state;
console.log(await state("folder"), await state("notes.txt"));
console.log((await Deno.permissions.revoke({ name: "read", path: "folder" })).state);
console.log(await state("folder"), await state("folder/inner.txt"), await state("notes.txt"));
try {
  await Deno.readTextFile("folder/inner.txt");
} catch (error) {
  console.log((error as Error).name);
}
console.log(await Deno.readTextFile("notes.txt"));
console.log((await Deno.permissions.revoke({ name: "read" })).state, await state("notes.txt"));
console.log((await Deno.permissions.revoke({ name: "env", variable: "A" })).state);
try {
  Deno.env.get("A");
} catch (error) {
  console.log((error as Error).name);
}
console.log(Deno.env.get("B"));
