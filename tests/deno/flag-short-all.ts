// flags: -R -N
for (const name of ["read", "net", "write"] as const) console.log((await Deno.permissions.query({ name })).state);
