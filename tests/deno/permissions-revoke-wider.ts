// flags: --allow-read=folder/inner.txt
// stricter: D8
// says: after prompt
await Deno.permissions.revoke({ name: "read", path: "folder" });
console.log("after", (await Deno.permissions.query({ name: "read", path: "folder/inner.txt" })).state);
