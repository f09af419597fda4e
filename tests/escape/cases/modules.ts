import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { EscapeCase, Places } from "../escape-case.ts";

const REFUSED = /cannot be imported|outside the script's folder|does not exist|not a regular file/;

/** A link in the package of the case. */
function linked(target: (places: Places) => string, folder: string, name: string): NonNullable<EscapeCase["prepare"]> {
  return (places) => {
    symlinkSync(target(places), join(places.HOOKS, folder, name));
    return undefined;
  };
}

function importing(name: string, statement: string, more: Partial<EscapeCase> = {}): EscapeCase {
  return { name, module: `${statement}\nexport default () => ({ answer: "imported" });`, sees: REFUSED, ...more };
}

/** The number of a case is the name of its package: those with links stand first. */
export const MODULES: readonly EscapeCase[] = [
  importing(
    "imports a secret through a link in its package",
    `import { default as text } from "./link.js"; console.log(text);`,
    {
      files: { "beside.ts": "" },
      prepare: linked(({ OUTSIDE }) => join(OUTSIDE, "secret.js"), "modules-0", "link.js"),
    },
  ),
  importing("imports JSON through a link in its package", `import text from "./link.json"; console.log(text);`, {
    files: { "beside.ts": "" },
    prepare: linked(({ OUTSIDE }) => join(OUTSIDE, "secret.json"), "modules-1", "link.json"),
  }),
  importing("reads a secret out of the message of a parser", `import "./link.ts";`, {
    files: { "beside.ts": "" },
    prepare: linked(({ SECRET }) => SECRET, "modules-2", "link.ts"),
  }),
  importing("imports from a folder that is a link", `import text from "./folder/secret.js"; console.log(text);`, {
    files: { "beside.ts": "" },
    prepare: linked(({ OUTSIDE }) => OUTSIDE, "modules-3", "folder"),
  }),
  importing("has a settings file for the bundler that leads outside", `import text from "secret"; console.log(text);`, {
    files: {
      "tsconfig.json": `{ "extends": "{{OUTSIDE}}/secret.json", "compilerOptions": { "baseUrl": "/", "paths": { "*": ["{{OUTSIDE}}/*.js"] } } }`,
      "package.json": `{ "imports": { "#secret": "{{OUTSIDE}}/secret.js" }, "browser": { "secret": "{{OUTSIDE}}/secret.js" } }`,
    },
  }),
  importing("maps an import by its package file", `import text from "#secret"; console.log(text);`, {
    files: { "package.json": `{ "imports": { "#secret": "{{OUTSIDE}}/secret.js" } }` },
  }),
  {
    name: "names a source map that lies outside",
    files: {
      "lib.js": `export const fling = () => { throw new Error("flung") };\n//# sourceMappingURL=file://{{OUTSIDE}}/secret.json\n`,
    },
    module: `import { fling } from "./lib.js";\nexport default () => fling();`,
    sees: /flung/,
  },
  importing("imports modules of Node", `import "node:fs"; import "fs"; import "node:child_process";`),
  importing(
    "imports from registries and the web",
    `import "npm:esbuild"; import "jsr:@std/fs"; import "https://127.0.0.1:{{SECRET_PORT}}/x.ts";`,
  ),
  importing(
    "imports by an absolute path and by a URL",
    `import "{{OUTSIDE}}/secret.js"; import "file://{{OUTSIDE}}/secret.js";`,
  ),
  importing("imports from above its folder", `import text from "../../outside/secret.js"; console.log(text);`),
  importing("imports the hook of another package", `import "../keeper/keeper.ts";`),
  importing("imports what is no program", `import text from "./notes.txt"; console.log(text);`, {
    files: { "notes.txt": "x" },
  }),
  importing("imports bytes and addons", `import "./x.wasm"; import "./x.node";`, {
    files: { "x.wasm": "", "x.node": "" },
  }),
  importing("imports data as a program", `import "data:text/javascript,export default 1";`),
  {
    name: "imports while it runs, by names that it makes up",
    tries: [
      `import(["node", "fs"].join(":"))`,
      `(0, eval)("import('node:fs')")`,
      `new Function("return import('node:fs')")()`,
      `(async () => {}).constructor("return import('file://{{OUTSIDE}}/secret.js')")()`,
      `(0, eval)("require('fs')")`,
      `import.meta.resolve("node:fs").then()`,
    ],
    sees: /Error/,
  },
  {
    name: "breaks out of the function that it is wrapped in",
    module: `export default () => ({ answer: typeof __clawdTake + typeof __exported });\n/* }); */ // })(() => {}); post("x")\n`,
  },
  {
    name: "names itself like the prelude",
    module: `export default () => { const run = (0, eval)("() => { throw new Error('mine') }\\n//# sourceURL=clawd:prelude"); run(); };`,
    sees: /mine/,
  },
];
