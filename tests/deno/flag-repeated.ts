// flags: --allow-read=folder --allow-read=notes.txt
for (const path of ["folder", "notes.txt", "empty.txt"]) {
  console.log((await Deno.permissions.query({ name: "read", path })).state);
}
