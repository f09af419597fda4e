// flags:
for (const name of ["window", "require", "process", "module", "global", "exports", "__dirname", "Buffer"]) {
  if (name === "process" || name === "Buffer" || name === "global") continue;
  console.log(name, typeof (globalThis as Record<string, unknown>)[name]);
}
for (const name of ["console", "setTimeout", "fetch", "URL", "Headers", "Request", "Response", "TextEncoder", "AbortController", "Event", "EventTarget", "CustomEvent", "structuredClone", "queueMicrotask", "atob", "btoa", "crypto", "performance", "Deno", "self", "navigator", "reportError", "DOMException", "Blob", "FormData"]) {
  console.log(name, typeof (globalThis as Record<string, unknown>)[name]);
}
