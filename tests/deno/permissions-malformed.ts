// flags:
for (const descriptor of [
  { name: "net", host: "http://x/" },
  { name: "net", host: "a b" },
  { name: "net", host: "" },
  { name: "net", host: "*.example.com" },
  { name: "read", path: "" },
  { name: "run", command: "" },
] as Deno.PermissionDescriptor[]) {
  try {
    await Deno.permissions.query(descriptor);
    console.log("asked");
  } catch (error) {
    console.log(JSON.stringify(descriptor), (error as Error).name);
  }
}
