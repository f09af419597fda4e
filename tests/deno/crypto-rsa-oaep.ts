// flags:
const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: "RSA-OAEP", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-1" }, true, ["encrypt", "decrypt"]) as CryptoKeyPair;
const sealed = await crypto.subtle.encrypt({ name: "RSA-OAEP", label: new Uint8Array([5]) }, publicKey, new Uint8Array([1, 2]));
console.log(sealed.byteLength, new Uint8Array(await crypto.subtle.decrypt({ name: "RSA-OAEP", label: new Uint8Array([5]) }, privateKey, sealed)));
const spki = await crypto.subtle.exportKey("spki", publicKey);
const back = await crypto.subtle.importKey("spki", spki, { name: "RSA-OAEP", hash: "SHA-1" }, true, ["encrypt"]);
console.log(back.type, (await crypto.subtle.exportKey("pkcs8", privateKey)).byteLength > 1000);
