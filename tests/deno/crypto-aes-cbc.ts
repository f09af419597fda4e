// flags:
const key = await crypto.subtle.importKey("raw", new Uint8Array(16).fill(3), "AES-CBC", true, ["encrypt", "decrypt"]);
const algorithm = { name: "AES-CBC", iv: new Uint8Array(16) };
const sealed = await crypto.subtle.encrypt(algorithm, key, new TextEncoder().encode("sixteen bytes and more"));
console.log(btoa(String.fromCharCode(...new Uint8Array(sealed))));
console.log(new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, sealed)), key.algorithm);
console.log(new Uint8Array(await crypto.subtle.exportKey("raw", key)));
