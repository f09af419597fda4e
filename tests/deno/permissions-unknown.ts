// flags:
for (const name of ["reed", "hrtime", "", undefined, 5, "toString"]) {
  try {
    await Deno.permissions.query({ name } as unknown as Deno.PermissionDescriptor);
  } catch (error) {
    console.log(String(name), (error as Error).name, (error as Error).message);
  }
}
try {
  await Deno.permissions.query({ name: "sys", kind: "foo" as "hostname" });
} catch (error) {
  console.log((error as Error).name);
}
