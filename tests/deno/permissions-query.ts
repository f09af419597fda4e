// flags: --allow-read=folder --allow-net=example.com:443 --allow-env=HOME --allow-run=ls --allow-sys=hostname
const ask = async (descriptor: Deno.PermissionDescriptor) => {
  const { state, partial } = await Deno.permissions.query(descriptor);
  console.log(JSON.stringify(descriptor), state, partial);
};
await ask({ name: "read" });
await ask({ name: "read", path: "folder" });
await ask({ name: "read", path: "./folder/inner.txt" });
await ask({ name: "read", path: "folder-evil" });
await ask({ name: "read", path: "." });
await ask({ name: "write", path: "folder" });
await ask({ name: "net" });
await ask({ name: "net", host: "example.com" });
await ask({ name: "net", host: "example.com:443" });
await ask({ name: "net", host: "EXAMPLE.com.:443" });
await ask({ name: "net", host: "example.com:80" });
await ask({ name: "net", host: "[::1]:80" });
await ask({ name: "env", variable: "HOME" });
await ask({ name: "env", variable: "home" });
await ask({ name: "env" });
await ask({ name: "run", command: "ls" });
await ask({ name: "run", command: "cat" });
await ask({ name: "sys", kind: "hostname" });
await ask({ name: "sys", kind: "loadavg" });
