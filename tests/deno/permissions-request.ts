// flags: --allow-read=folder
for (const path of ["folder", "folder/inner.txt", "notes.txt"]) {
  const { state } = await Deno.permissions.request({ name: "read", path });
  console.log(path, state);
}
console.log((await Deno.permissions.query({ name: "read", path: "notes.txt" })).state);
console.log((await Deno.permissions.request({ name: "net" })).state);
