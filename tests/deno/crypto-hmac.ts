// flags:
const key = await crypto.subtle.importKey("raw", new TextEncoder().encode("key"), { name: "HMAC", hash: "SHA-256" }, true, ["sign", "verify"]);
const data = new TextEncoder().encode("The quick brown fox jumps over the lazy dog");
const signature = await crypto.subtle.sign("HMAC", key, data);
console.log([...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
console.log(await crypto.subtle.verify("HMAC", key, signature, data), await crypto.subtle.verify("HMAC", key, signature, data.slice(1)));
console.log(key.type, key.extractable, key.algorithm, key.usages);
