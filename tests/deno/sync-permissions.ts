// flags: --allow-read=folder
console.log(Deno.permissions.querySync({ name: "read", path: "folder" }).state);
console.log(Deno.permissions.querySync({ name: "write" }).state, Deno.permissions.requestSync({ name: "write" }).state);
console.log(Deno.permissions.revokeSync({ name: "read", path: "folder" }).state);
console.log((await Deno.permissions.query({ name: "read", path: "folder" })).state);
