// flags:
const wrapping = await crypto.subtle.importKey("raw", new Uint8Array(16).fill(2), "AES-KW", false, ["wrapKey", "unwrapKey"]);
const key = await crypto.subtle.importKey("raw", new Uint8Array(16).fill(5), "AES-CBC", true, ["encrypt"]);
const wrapped = await crypto.subtle.wrapKey("raw", key, wrapping, "AES-KW");
console.log(btoa(String.fromCharCode(...new Uint8Array(wrapped))));
const back = await crypto.subtle.unwrapKey("raw", wrapped, wrapping, "AES-KW", "AES-CBC", true, ["encrypt"]);
console.log(new Uint8Array(await crypto.subtle.exportKey("raw", back))[0], back.usages);
