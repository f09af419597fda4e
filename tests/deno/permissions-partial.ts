// flags: --allow-read=. --deny-read=folder/inner.txt --allow-env --deny-env=SECRET --allow-sys --deny-sys=uid
const ask = async (descriptor: Deno.PermissionDescriptor) => {
  const { state, partial } = await Deno.permissions.query(descriptor);
  console.log(JSON.stringify(descriptor), state, partial);
};
await ask({ name: "read" });
await ask({ name: "read", path: "." });
await ask({ name: "read", path: "folder" });
await ask({ name: "read", path: "folder/inner.txt" });
await ask({ name: "read", path: "notes.txt" });
await ask({ name: "env" });
await ask({ name: "env", variable: "SECRET" });
await ask({ name: "env", variable: "OTHER" });
await ask({ name: "sys" });
await ask({ name: "sys", kind: "uid" });
await ask({ name: "sys", kind: "gid" });
