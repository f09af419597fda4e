// flags:
const bytes = new TextEncoder().encode("hello");
for (const name of ["SHA-1", "SHA-256", "SHA-384", "SHA-512", "sha-256"]) {
  const digest = new Uint8Array(await crypto.subtle.digest(name, bytes));
  console.log(name, digest.length, [...digest.slice(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
}
try {
  await crypto.subtle.digest("MD5", bytes);
} catch (error) {
  console.log((error as Error).name);
}
console.log((await crypto.subtle.digest({ name: "SHA-256" }, new ArrayBuffer(0))).byteLength);
