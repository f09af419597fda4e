// flags: --allow-read=.
console.log((await Deno.permissions.revoke({ name: "read", path: "folder" })).state);
console.log((await Deno.permissions.query({ name: "read", path: "." })).state);
