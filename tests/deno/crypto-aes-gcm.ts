// flags:
const key = await crypto.subtle.importKey("raw", new Uint8Array(32).fill(7), "AES-GCM", false, ["encrypt", "decrypt"]);
const iv = new Uint8Array(12).fill(1);
const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: new Uint8Array([9]) }, key, new TextEncoder().encode("hello"));
console.log(btoa(String.fromCharCode(...new Uint8Array(sealed))));
console.log(new TextDecoder().decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData: new Uint8Array([9]) }, key, sealed)));
try { await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, sealed); } catch (error) { console.log((error as Error).name); }
try { await crypto.subtle.exportKey("raw", key); } catch (error) { console.log((error as Error).name); }
