// flags:
const hex = (buffer: ArrayBuffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
console.log(hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc"))));
console.log(hex(await crypto.subtle.digest("SHA-1", new DataView(new ArrayBuffer(3), 1, 1))));
try { await crypto.subtle.digest("SHA-256", "text" as unknown as Uint8Array<ArrayBuffer>); } catch (error) { console.log((error as Error).name); }
