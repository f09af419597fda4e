// flags:
const key = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", true, ["encrypt"]);
const copy = structuredClone(key);
console.log(copy instanceof CryptoKey, copy === key, new Uint8Array(await crypto.subtle.exportKey("raw", copy)).length);
console.log(key);
