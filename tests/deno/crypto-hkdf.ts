// flags:
const base = await crypto.subtle.importKey("raw", new Uint8Array(22).fill(11), "HKDF", false, ["deriveBits"]);
const bits = await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array([0, 1, 2]), info: new Uint8Array([240]) }, base, 336);
console.log(btoa(String.fromCharCode(...new Uint8Array(bits))));
