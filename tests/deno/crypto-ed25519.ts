// flags:
const { privateKey, publicKey } = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]) as CryptoKeyPair;
const data = new Uint8Array([1, 2, 3]);
const signature = await crypto.subtle.sign("Ed25519", privateKey, data);
console.log(signature.byteLength, await crypto.subtle.verify("Ed25519", publicKey, signature, data), publicKey.algorithm);
const raw = await crypto.subtle.exportKey("raw", publicKey);
const again = await crypto.subtle.importKey("raw", raw, "Ed25519", true, ["verify"]);
console.log(raw.byteLength, await crypto.subtle.verify("Ed25519", again, signature, data));
