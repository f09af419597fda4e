// How the code inside isolates is bundled: the prelude, which every isolate runs first, and the libraries, which it asks for
// when a guest first uses them. Each is one script that leaves a variable behind; none may import anything.
import { createRequire } from "node:module";
import { join } from "node:path";
import type { BuildOptions } from "esbuild";

const GUEST = join(import.meta.dirname, "../sandbox/guest");
const { resolve } = createRequire(import.meta.filename);

/** Name → its file beside the prelude. */
export const GUEST_LIBRARIES = {
  url: "guest-library-url.js",
  idna: "guest-library-idna.js",
  urlpattern: "guest-library-urlpattern.js",
  streams: "guest-library-streams.js",
  encodings: "guest-library-encodings.js",
  crypto: "guest-library-crypto.js",
  websocket: "guest-library-websocket.js",
  messages: "guest-library-messages.js",
  deno: "guest-library-deno.js",
  node: "guest-library-node.js",
} as const;

export function guestBundles(outdir: string): (BuildOptions & { outfile: string })[] {
  const shared: BuildOptions = {
    bundle: true,
    platform: "neutral",
    format: "iife",
    target: "es2024",
    charset: "utf8",
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    // The packages in it are CommonJS, which a neutral platform does not look for.
    mainFields: ["module", "main"],
  };
  const library = (name: keyof typeof GUEST_LIBRARIES, entry: string) => ({
    ...shared,
    entryPoints: [entry],
    outfile: join(outdir, GUEST_LIBRARIES[name]),
    globalName: "clawdLibrary",
  });
  return [
    { ...shared, entryPoints: [join(GUEST, "guest-prelude.ts")], outfile: join(outdir, "guest-prelude.js") },
    {
      ...library("url", join(GUEST, "url.ts")),
      alias: {
        "@exodus/bytes/encoding.js": join(GUEST, "url-percent.ts"),
        "@exodus/bytes/whatwg.js": join(GUEST, "url-percent.ts"),
        tr46: join(GUEST, "url-domain.ts"),
      },
    },
    library("urlpattern", join(GUEST, "url-pattern.ts")),
    library("streams", join(GUEST, "streams.ts")),
    library("encodings", resolve("@exodus/bytes/encoding.js")),
    library("crypto", join(GUEST, "subtle-crypto.ts")),
    library("websocket", join(GUEST, "web-socket.ts")),
    library("deno", join(GUEST, "deno-library.ts")),
    // Injected, so that what the packages look for is there before them.
    { ...library("node", join(GUEST, "node-library.ts")), inject: [join(GUEST, "node-stand-ins.ts")] },
    library("messages", join(GUEST, "message-port.ts")),
    library("idna", createRequire(resolve("whatwg-url")).resolve("tr46")),
  ];
}
