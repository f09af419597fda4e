// flags: -R=. -W=folder -E=CORPUS_NAME -S=hostname
for (const descriptor of [{ name: "read", path: "." }, { name: "write", path: "folder" }, { name: "write", path: "." }, { name: "env", variable: "CORPUS_NAME" }, { name: "sys", kind: "hostname" }] as Deno.PermissionDescriptor[]) {
  console.log((await Deno.permissions.query(descriptor)).state);
}
