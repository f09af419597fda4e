// flags:
for (const namedCurve of ["P-256", "P-384"]) {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve }, true, ["sign", "verify"]) as CryptoKeyPair;
  const data = new TextEncoder().encode("signed");
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, data);
  console.log(namedCurve, signature.byteLength, await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, publicKey, signature, data));
  const jwk = await crypto.subtle.exportKey("jwk", publicKey);
  console.log(jwk.kty, jwk.crv, jwk.key_ops, jwk.ext, publicKey.usages, privateKey.usages, privateKey.type);
}
