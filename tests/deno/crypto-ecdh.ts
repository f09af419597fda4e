// flags:
const one = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, false, ["deriveBits"]) as CryptoKeyPair;
const other = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, false, ["deriveBits"]) as CryptoKeyPair;
const a = await crypto.subtle.deriveBits({ name: "ECDH", public: other.publicKey }, one.privateKey, 256);
const b = await crypto.subtle.deriveBits({ name: "ECDH", public: one.publicKey }, other.privateKey, 256);
console.log(a.byteLength, String(new Uint8Array(a)) === String(new Uint8Array(b)), one.publicKey.extractable, one.privateKey.extractable);
