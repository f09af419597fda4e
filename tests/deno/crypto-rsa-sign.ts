// flags:
for (const name of ["RSASSA-PKCS1-v1_5", "RSA-PSS"]) {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign", "verify"]) as CryptoKeyPair;
  const signature = await crypto.subtle.sign({ name, saltLength: 32 }, privateKey, new Uint8Array([1]));
  console.log(name, signature.byteLength, await crypto.subtle.verify({ name, saltLength: 32 }, publicKey, signature, new Uint8Array([1])));
  const { modulusLength, publicExponent } = publicKey.algorithm as RsaHashedKeyAlgorithm;
  console.log(modulusLength, publicExponent, (await crypto.subtle.exportKey("jwk", publicKey)).alg);
}
