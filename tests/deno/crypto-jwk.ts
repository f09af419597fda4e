// flags:
const key = await crypto.subtle.importKey("jwk", { kty: "oct", k: "AQIDBAUGBwgJCgsMDQ4PEA", alg: "A128GCM", ext: true }, "AES-GCM", true, ["encrypt"]);
console.log(new Uint8Array(await crypto.subtle.exportKey("raw", key)));
const { kty, alg, k, key_ops, ext } = await crypto.subtle.exportKey("jwk", key);
console.log(kty, alg, k, key_ops, ext);
const hidden = await crypto.subtle.importKey("jwk", { kty: "oct", k: "AQIDBAUGBwgJCgsMDQ4PEA", ext: false }, "AES-GCM", false, ["encrypt"]);
console.log(hidden.extractable);
