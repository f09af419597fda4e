import { afterAll, beforeAll, expect, test } from "vitest";
import { type GuestRoom, openGuestRoom } from "../fixtures/guest-room.ts";

let room: GuestRoom;
beforeAll(async () => {
  room = await openGuestRoom();
});
afterAll(() => room.close());

test("a guest that touches none of it loads no library, and each is loaded once", async () => {
  expect((await room.run("new Response('x'); new Blob(['a']); atob('YQ=='); structuredClone({});")).libraries).toEqual(
    [],
  );
  const { libraries } = await room.run(
    "new ReadableStream(); new TransformStream(); new Response('x').body; crypto.subtle; CryptoKey; new MessageChannel(); MessageEvent;",
  );
  expect(libraries).toEqual(["streams", "crypto", "messages"]);
});

test("names of libraries can be overwritten, and are not enumerable", async () => {
  const printed = await room.printed(`
    globalThis.ReadableStream = 5; globalThis.WebSocket = undefined;
    console.log(ReadableStream, WebSocket, typeof WritableStream, Object.keys(globalThis).length);`);
  expect(printed).toBe("5 undefined function 0\n");
});

test("a guest that bends its built-ins first gets broken parts of its own, and nothing of the host", async () => {
  const { said, libraries } = await room.run(`
    const seen = [];
    const spy = (name, value) => { seen.push(name + ":" + typeof value); return value; };
    const { call } = Function.prototype;
    for (const [owner, name] of [[Array.prototype, "push"], [Array.prototype, "map"], [Map.prototype, "get"], [String.prototype, "replace"], [JSON, "stringify"], [JSON, "parse"], [Reflect, "apply"], [Object, "defineProperty"], [Object, "fromEntries"], [Promise.prototype, "then"]]) {
      const own = owner[name];
      owner[name] = function (...args) {
        for (const value of [this, ...args]) {
          if (typeof value !== "function" || value === own) continue;
          let made;
          try { made = value.constructor && value.constructor("return typeof process + typeof require + typeof clawdLoad")(); } catch {}
          if (made !== undefined && made !== "undefinedundefinedundefined") seen.push(made);
        }
        return own.apply(this, args);
      };
    }
    for (const use of [
      () => new ReadableStream({ start(c) { c.enqueue(1); c.close(); } }).getReader().read(),
      () => crypto.subtle.digest("SHA-256", new Uint8Array(1)),
      () => new URLPattern({ pathname: "/:a" }).test("https://a.b/c"),
      () => new TextDecoder("gbk").decode(new Uint8Array([0xc4, 0xe3])),
      () => new MessageChannel(),
    ]) try { await use(); } catch {}
    console.log("seen " + seen.length);`);
  expect(said.map((word) => (word.k === "log" ? word.text : word.k))).toEqual(["seen 0\n", "loaded"]);
  expect(libraries).toEqual(["streams", "crypto", "urlpattern", "url", "encodings", "messages"]);
});

test("a poisoned JSON does not see into a key, and a key that is made up is none", async () => {
  const printed = await room.printed(`
    const texts = [];
    const { stringify } = JSON;
    JSON.stringify = (...args) => { const text = stringify(...args); texts.push(text); return text; };
    const secret = new Uint8Array(32).fill(77);
    const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt"]);
    await crypto.subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, key, secret);
    JSON.stringify = stringify;
    try { await crypto.subtle.exportKey("raw", key); } catch (error) { console.log(error.name); }
    console.log(texts.join("").includes('"data"'), Object.getOwnPropertyNames(key).length);
    const forged = Object.create(CryptoKey.prototype);
    try { await crypto.subtle.exportKey("raw", forged); } catch (error) { console.log(error.name); }
    try { await crypto.subtle.exportKey("raw", structuredClone(forged)); } catch (error) { console.log(error.name); }`);
  expect(printed).toBe("InvalidAccessError\nfalse 0\nTypeError\nTypeError\n");
});

test("cryptography that would take a processor for long is refused", async () => {
  const printed = await room.printed(`
    const base = await crypto.subtle.importKey("raw", new Uint8Array(8), "PBKDF2", false, ["deriveBits"]);
    const pbkdf2 = (iterations, bits) => crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-1", salt: new Uint8Array(8), iterations }, base, bits);
    for (const attempt of [
      () => pbkdf2(1_000_001, 128),
      () => pbkdf2(1_000_000, 8192),
      () => pbkdf2(1, 1e9),
      () => crypto.subtle.generateKey({ name: "RSA-PSS", modulusLength: 16384, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign"]),
      () => crypto.subtle.generateKey({ name: "RSA-PSS", modulusLength: 2048, publicExponent: new Uint8Array([255, 255, 255, 255]), hash: "SHA-256" }, true, ["sign"]),
      () => crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256", length: 1e9 }, true, ["sign"]),
      () => crypto.subtle.digest("SHA-256", new Uint8Array(4 * 1024 * 1024 + 1)),
      () => crypto.subtle.digest("SHAKE128", new Uint8Array(1)),
    ]) try { await attempt(); console.log("done"); } catch (error) { console.log(error.name); }`);
  expect(printed).toBe(`${"NotSupportedError\n".repeat(6)}QuotaExceededError\nNotSupportedError\n`);
});

test("what unpacks to very much waits in the host until it is read", async () => {
  const printed = await room.printed(`
    const zeros = new Uint8Array(1024 * 1024);
    let bomb = new ReadableStream({ start(c) { for (let n = 0; n < 8; n += 1) c.enqueue(zeros); c.close(); } }).pipeThrough(new CompressionStream("gzip"));
    const packed = await new Response(bomb).bytes();
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    let size = 0, largest = 0;
    for (let n = 0; n < 3; n += 1) { const { value } = await reader.read(); size += value.length; largest = Math.max(largest, value.length); }
    await reader.cancel();
    console.log(packed.length < 100_000, size < 2_000_000, largest < 300_000);`);
  expect(printed).toBe("true true true\n");
});

test("a 17th stream that packs is refused, and one that was given up makes room", async () => {
  const printed = await room.printed(`
    const streams = Array.from({ length: 16 }, () => new CompressionStream("gzip"));
    const write = async (stream) => {
      stream.readable.getReader().read().catch(() => {});
      const writer = stream.writable.getWriter();
      await writer.write(new Uint8Array(10));
      return writer;
    };
    const writers = await Promise.all(streams.map(write));
    try { await write(new CompressionStream("gzip")); } catch (error) { console.log(error.name); }
    await writers[0].abort();
    await write(new CompressionStream("gzip"));
    console.log("room again");`);
  expect(printed).toBe("RangeError\nroom again\n");
});

test("bytes behind the end, and an end that does not come, are no format", async () => {
  const printed = await room.printed(`
    const packed = await new Response(new Blob(["x".repeat(100)]).stream().pipeThrough(new CompressionStream("deflate-raw"))).bytes();
    for (const bytes of [packed.slice(0, -1), new Uint8Array([...packed, 1])])
      try { await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).bytes(); console.log("unpacked"); } catch (error) { console.log(error.name); }`);
  expect(printed).toBe("TypeError\nTypeError\n");
});

test("messages in both directions never run into one another, and a closed port is quiet", async () => {
  const printed = await room.printed(`
    const { port1, port2 } = new MessageChannel();
    const done = Promise.withResolvers();
    port1.onmessage = ({ data }) => data < 6 ? port1.postMessage(data + 1) : done.resolve(data);
    port2.onmessage = ({ data }) => port2.postMessage(data + 1);
    port1.postMessage(1);
    console.log(await done.promise);
    port2.addEventListener("close", () => console.log("other side closed"));
    port1.close(); port1.close(); port1.postMessage("unheard");
    try { structuredClone(port1, { transfer: [port1] }); } catch (error) { console.log(error.name); }
    await new Promise((resolve) => setTimeout(resolve, 5));`);
  expect(printed).toBe("6\nDataCloneError\nother side closed\n");
});

test("a WebSocket asks the broker, and its refusal is an error and a close", async () => {
  const source = `
    const socket = new WebSocket("wss://example.com/x", "chat");
    socket.onerror = (event) => console.log(event.type, event.error.name);
    const closed = Promise.withResolvers();
    socket.onclose = ({ code, wasClean }) => { console.log(code, wasClean, socket.readyState); closed.resolve(); };
    try { socket.send("early"); } catch (error) { console.log(error.name); }
    await closed.promise;`;
  const refusal = { ok: false, error: { name: "NotCapable", message: "no" } } as const;
  const { said } = await room.run(source, { answers: { socketOpen: refusal } });
  expect(said.flatMap((word) => (word.k === "call" ? [word.name, word.args] : []))).toEqual([
    "socketOpen",
    { url: "wss://example.com/x", protocols: ["chat"] },
  ]);
  expect(said.map((word) => (word.k === "log" ? word.text : "")).join("")).toBe(
    "InvalidStateError\nerror NotCapable\n1006 false 3\n",
  );
});
