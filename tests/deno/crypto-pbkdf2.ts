// flags:
const base = await crypto.subtle.importKey("raw", new TextEncoder().encode("password"), "PBKDF2", false, ["deriveBits", "deriveKey"]);
const bits = await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: new TextEncoder().encode("salt"), iterations: 1000 }, base, 256);
console.log(btoa(String.fromCharCode(...new Uint8Array(bits))));
const key = await crypto.subtle.deriveKey({ name: "PBKDF2", hash: "SHA-512", salt: new Uint8Array(8), iterations: 10 }, base, { name: "AES-GCM", length: 256 }, true, ["encrypt"]);
console.log(btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.exportKey("raw", key)))), key.algorithm);
console.log(base.type, base.algorithm, base.extractable);
