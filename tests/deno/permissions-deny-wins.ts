// flags: --allow-read=folder/inner.txt --deny-read=folder
// stricter: D1
// says: inner denied
console.log("inner", (await Deno.permissions.query({ name: "read", path: "folder/inner.txt" })).state);
