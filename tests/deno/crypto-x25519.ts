// flags:
const one = await crypto.subtle.generateKey("X25519", true, ["deriveBits"]) as CryptoKeyPair;
const other = await crypto.subtle.generateKey("X25519", true, ["deriveBits"]) as CryptoKeyPair;
const a = await crypto.subtle.deriveBits({ name: "X25519", public: other.publicKey }, one.privateKey, 256);
const b = await crypto.subtle.deriveBits({ name: "X25519", public: one.publicKey }, other.privateKey, 256);
console.log(String(new Uint8Array(a)) === String(new Uint8Array(b)), one.publicKey.algorithm);
