/** `data:` URLs, which need nobody's leave. Runs inside the isolate. */

import { atob } from "./base64.ts";

export type DataUrl = { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> };

/** The bytes that a text of character codes below 256 and percent-escapes stands for. */
function percentDecoded(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  let written = 0;
  for (let at = 0; at < text.length; at += 1) {
    const escaped = text[at] === "%" && /^[0-9A-Fa-f]{2}$/.test(text.slice(at + 1, at + 3));
    bytes[written] = escaped ? Number.parseInt(text.slice(at + 1, at + 3), 16) : text.charCodeAt(at);
    written += 1;
    if (escaped) at += 2;
  }
  return bytes.slice(0, written);
}

/** Undefined for a text that is no `data:` URL. `href` is as a URL gives it, in ASCII. */
export function readDataUrl(href: string): DataUrl | undefined {
  const found = /^data:([^,]*),([^#]*)/.exec(href);
  if (!found) return undefined;
  const [, head = "", rest = ""] = found;
  const base64 = /;\s*base64\s*$/i.exec(head);
  const named = (base64 ? head.slice(0, base64.index) : head).trim();
  const known = /^[^\s/;]+\/[^\s/;]+/.test(named);
  const type = known ? named : named.startsWith(";") ? `text/plain${named}` : "text/plain;charset=US-ASCII";
  const bytes = percentDecoded(rest);
  if (!base64) return { type, bytes };
  try {
    const codes = atob(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    return { type, bytes: Uint8Array.from(codes, (letter) => letter.charCodeAt(0)) };
  } catch {
    return undefined;
  }
}
