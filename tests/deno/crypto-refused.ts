// flags:
const subtle = crypto.subtle;
const key = await subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["encrypt"]);
const tries: (() => Promise<unknown>)[] = [
  () => subtle.decrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, key, new Uint8Array(20)),
  () => subtle.encrypt({ name: "AES-CBC", iv: new Uint8Array(16) }, key, new Uint8Array(1)),
  () => subtle.importKey("raw", new Uint8Array(5), "AES-GCM", false, ["encrypt"]),
  () => subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["sign"]),
  () => subtle.generateKey({ name: "AES-GCM", length: 100 }, false, ["encrypt"]),
  () => subtle.generateKey("Nonsense", false, ["encrypt"]),
  () => subtle.sign("HMAC", {} as CryptoKey, new Uint8Array(1)),
  () => subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, key, "text" as unknown as Uint8Array<ArrayBuffer>),
  () => subtle.importKey("paper" as "raw", new Uint8Array(16), "AES-GCM", false, ["encrypt"]),
];
for (const attempt of tries) try { await attempt(); console.log("done"); } catch (error) { console.log((error as Error).name); }
try { new (CryptoKey as unknown as new () => CryptoKey)(); } catch (error) { console.log((error as Error).name); }
