// flags:
const names = ["AbortController", "AbortSignal", "Blob", "ByteLengthQueuingStrategy", "CompressionStream", "CountQueuingStrategy", "Crypto", "CryptoKey", "CustomEvent", "DecompressionStream", "DOMException", "ErrorEvent", "Event", "EventTarget", "File", "FormData", "Headers", "MessageChannel", "MessageEvent", "MessagePort", "Performance", "PromiseRejectionEvent", "ReadableByteStreamController", "ReadableStream", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "ReadableStreamDefaultController", "ReadableStreamDefaultReader", "Request", "Response", "SubtleCrypto", "TextDecoder", "TextDecoderStream", "TextEncoder", "TextEncoderStream", "TransformStream", "TransformStreamDefaultController", "URL", "URLPattern", "URLSearchParams", "WebSocket", "CloseEvent", "WritableStream", "WritableStreamDefaultController", "WritableStreamDefaultWriter"];
for (const name of names) {
  const kind = (globalThis as unknown as Record<string, { name: string; prototype: object }>)[name]!;
  if (!name.endsWith("Event")) console.log(name, typeof kind, kind.name, (kind.prototype as Record<symbol, unknown>)[Symbol.toStringTag] ?? Object.prototype.toString.call(kind.prototype));
}
