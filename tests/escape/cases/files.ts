import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { EscapeCase, Places } from "../escape-case.ts";

const DENIED = /^NotCapable: Requires (?:read|write) access to/;
const HERE = "read={{HERE}} write={{HERE}}";

function link(target: (places: Places) => string, name: string): NonNullable<EscapeCase["prepare"]> {
  return (places) => {
    symlinkSync(target(places), join(places.HERE, name));
    return undefined;
  };
}

export const FILES: readonly EscapeCase[] = [
  {
    name: "reads a secret by its path, in all spellings of it",
    grant: HERE,
    tries: [
      `Deno.readTextFile("{{SECRET}}")`,
      `Deno.readFile("{{SECRET}}")`,
      `Deno.readTextFile("{{HERE}}/../../outside/secret.txt")`,
      `Deno.readTextFile("{{HERE}}/./../..//outside///secret.txt")`,
      `Deno.readTextFile("{{HERE}}/nothing/../../../outside/secret.txt")`,
      `Deno.readTextFile(new URL("file://{{SECRET}}"))`,
      `Deno.readTextFile(new URL("file://{{HERE}}/%2e%2e/%2e%2e/outside/secret.txt"))`,
    ],
    sees: DENIED,
  },
  {
    name: "tells from the errors whether a file is there",
    grant: HERE,
    body: `const texts = [];
      for (const path of ["{{OUTSIDE}}/secret.txt", "{{OUTSIDE}}/secret.not", "{{OUTSIDE}}/secret.txt/x", "{{OUTSIDE}}/none/x"])
        for (const name of ["readTextFile", "stat", "lstat", "remove", "mkdir"]) texts.push((await tell(() => Deno[name](path))).split("\\n")[0].replaceAll(path, "P"));
      const kinds = new Set(texts);
      return { answer: [...kinds] };`,
    sees: /"result":\["NotCapable: Requires read access[^"]*\\"P\\"[^"]*\\"@allow read=P\\"[^"]*","NotCapable: Requires write access[^,]*(?:, add[^,]*)?"\]/,
  },
  {
    name: "reads through a link in a granted folder",
    grant: HERE,
    prepare: link(({ SECRET }) => SECRET, "link.txt"),
    tries: [`Deno.readTextFile("{{HERE}}/link.txt")`, `Deno.stat("{{HERE}}/link.txt")`],
    sees: DENIED,
  },
  {
    name: "reads through a link in the middle of a path",
    grant: HERE,
    prepare: link(({ OUTSIDE }) => OUTSIDE, "folder"),
    tries: [
      `Deno.readTextFile("{{HERE}}/folder/secret.txt")`,
      `(async () => { const names = []; for await (const entry of Deno.readDir("{{HERE}}/folder")) names.push(entry.name); return names })()`,
      `Deno.writeTextFile("{{HERE}}/folder/new.txt", "x")`,
      `Deno.mkdir("{{HERE}}/folder/a/b", { recursive: true })`,
      `Deno.remove("{{HERE}}/folder/secret.txt")`,
      `Deno.rename("{{HERE}}/folder/secret.txt", "{{HERE}}/mine.txt")`,
      `Deno.rename("{{HERE}}/notes.txt", "{{HERE}}/folder/notes.txt")`,
    ],
    sees: DENIED,
  },
  {
    name: "reads through a link to a link",
    grant: HERE,
    prepare: ({ HERE: here, OUTSIDE }) => {
      symlinkSync(OUTSIDE, join(here, "one"));
      symlinkSync("one/secret.txt", join(here, "two"));
      symlinkSync("./two", join(here, "three"));
      return undefined;
    },
    tries: [`Deno.readTextFile("{{HERE}}/three")`, `Deno.readTextFile("{{HERE}}/one/../outside/secret.txt")`],
    sees: /NotCapable|NotFound/,
  },
  {
    name: "writes through a link that leads to nothing yet",
    grant: HERE,
    prepare: link(({ OUTSIDE }) => join(OUTSIDE, "made.txt"), "dangling"),
    tries: [
      `Deno.writeTextFile("{{HERE}}/dangling", "x")`,
      `Deno.writeTextFile("{{HERE}}/dangling", "x", { createNew: true })`,
      `Deno.mkdir("{{HERE}}/dangling", { recursive: true })`,
      `Deno.writeTextFile("{{HERE}}/dangling", "x", { append: true })`,
    ],
    sees: DENIED,
  },
  {
    name: "reads a denied file below a granted folder, by name and by link",
    grant: HERE,
    deny: "read={{HERE}}/private write={{HERE}}/private",
    prepare: ({ HERE: here, SECRET }) => {
      mkdirSync(join(here, "private"));
      symlinkSync(SECRET, join(here, "private/secret.txt"));
      writeFileSync(join(here, "private/own.txt"), "private");
      symlinkSync("private", join(here, "open-name"));
      return undefined;
    },
    tries: [
      `Deno.readTextFile("{{HERE}}/private/own.txt")`,
      `Deno.readTextFile("{{HERE}}/open-name/own.txt")`,
      `Deno.rename("{{HERE}}/private", "{{HERE}}/public")`,
      `Deno.remove("{{HERE}}", { recursive: true })`,
      `Deno.readTextFile("{{HERE}}/private/../private/./own.txt")`,
    ],
    sees: DENIED,
  },
  {
    name: "moves a folder out of the way of its denial",
    grant: HERE,
    deny: "read={{HERE}}/a/private",
    prepare: ({ HERE: here }) => {
      mkdirSync(join(here, "a/private"), { recursive: true });
      writeFileSync(join(here, "a/private/own.txt"), "private");
      return undefined;
    },
    tries: [`Deno.rename("{{HERE}}/a", "{{HERE}}/b")`],
    sees: DENIED,
  },
  {
    name: "takes a folder for granted because its name begins like one",
    grant: "read={{HERE}} write={{HERE}}",
    prepare: ({ HERE: here }) => {
      mkdirSync(`${here}-evil`, { recursive: true });
      writeFileSync(`${here}-evil/own.txt`, "not granted");
      return undefined;
    },
    tries: [`Deno.readTextFile("{{HERE}}-evil/own.txt")`, `Deno.writeTextFile("{{HERE}}-evil/new.txt", "x")`],
    sees: DENIED,
  },
  {
    name: "writes through a second name of a file outside",
    grant: HERE,
    prepare: ({ HERE: here, OUTSIDE }) => {
      linkSync(join(OUTSIDE, "secret.js"), join(here, "second.txt"));
      return () => rmSync(join(here, "second.txt"), { force: true });
    },
    tries: [
      `Deno.writeTextFile("{{HERE}}/second.txt", "x")`,
      `Deno.writeTextFile("{{HERE}}/second.txt", "x", { append: true })`,
      `Deno.writeFile("{{HERE}}/second.txt", new Uint8Array(1), { mode: 0o777 })`,
    ],
    sees: /has a second name/,
  },
  {
    name: "asks for the kernel's files, whatever is granted",
    grant: "read write",
    tries: [
      `Deno.readTextFile("/proc/self/environ")`,
      `Deno.readTextFile("/proc/self/root{{SECRET}}")`,
      `Deno.readTextFile("/proc/thread-self/cwd/../../{{SECRET}}")`,
      `Deno.readTextFile("/proc/1/environ")`,
      `Deno.readTextFile("/dev/fd/3")`,
      `Deno.readTextFile("/dev/stdin")`,
      `Deno.readTextFile("/dev/mem")`,
      `Deno.readTextFile("/sys/kernel/notes")`,
      `Deno.readTextFile("/run/../proc/self/maps")`,
      `Deno.writeTextFile("/proc/self/comm", "x")`,
      `Deno.writeTextFile("/dev/tty", "x")`,
      `Deno.stat("/proc/self/fd/0")`,
    ],
    sees: DENIED,
  },
  {
    name: "goes to the kernel's files by a link",
    grant: HERE,
    prepare: ({ HERE: here }) => {
      symlinkSync("/proc/self/environ", join(here, "environ"));
      symlinkSync("/proc/self", join(here, "self"));
      symlinkSync("/dev/fd", join(here, "fd"));
      return undefined;
    },
    tries: [
      `Deno.readTextFile("{{HERE}}/environ")`,
      `Deno.readTextFile("{{HERE}}/self/environ")`,
      `Deno.readTextFile("{{HERE}}/self/root{{SECRET}}")`,
      `Deno.readTextFile("{{HERE}}/fd/0")`,
    ],
    sees: DENIED,
  },
  {
    name: "opens the daemon's own data although all of reading is granted",
    grant: "read write",
    tries: [
      `Deno.readTextFile("{{TOKEN}}")`,
      `Deno.readTextFile("{{HOME}}/sessions/../token.txt")`,
      `(async () => { for await (const entry of Deno.readDir("{{HOME}}")) return entry.name })()`,
      `Deno.writeTextFile("{{HOME}}/config.toml", "x")`,
      `Deno.writeTextFile("{{HOOKS}}/evil.ts", "x")`,
      `Deno.rename("{{HOME}}", "{{HERE}}/home")`,
      `Deno.remove("{{HOOKS}}", { recursive: true })`,
      `Deno.rename("{{HERE}}", "{{HOOKS}}/evil")`,
    ],
    sees: DENIED,
  },
  {
    name: "writes what programs run later",
    grant: HERE,
    tries: [
      ".git/hooks/post-commit",
      ".git/config",
      ".bashrc",
      "deep/.ssh/authorized_keys",
      ".mcp.json",
      ".GIT/config",
      ".profile",
    ].map((name) => `Deno.writeTextFile("{{HERE}}/${name}", "x")`),
    sees: /NotCapable: .*never granted/,
  },
  {
    name: "carries a protected folder in under another name",
    grant: HERE,
    prepare: ({ HERE: here }) => {
      mkdirSync(join(here, "repo/hooks"), { recursive: true });
      writeFileSync(join(here, "repo/hooks/post-commit"), "x");
      return undefined;
    },
    tries: [
      `Deno.rename("{{HERE}}/repo", "{{HERE}}/.git")`,
      `Deno.mkdir("{{HERE}}/.git/hooks", { recursive: true })`,
      `Deno.rename("{{HERE}}/notes.txt", "{{HERE}}/.bashrc")`,
    ],
    sees: DENIED,
  },
  {
    name: "hangs on a pipe, and speaks to a socket",
    grant: HERE,
    prepare: ({ HERE: here }) => {
      execFileSync("mkfifo", [join(here, "pipe")]);
      const server = createServer((socket) => socket.end("spoken")).listen(join(here, "socket"));
      return () => void server.close();
    },
    tries: [
      `Deno.readTextFile("{{HERE}}/pipe")`,
      `Deno.writeTextFile("{{HERE}}/pipe", "x")`,
      `Deno.readTextFile("{{HERE}}/socket")`,
      `Deno.writeTextFile("{{HERE}}/socket", "x")`,
    ],
    sees: /not a regular file/,
  },
  {
    name: "gives paths that are none",
    grant: "read write",
    tries: [
      `Deno.readTextFile("{{HERE}}/notes.txt\\0.png")`,
      `Deno.readTextFile("")`,
      `Deno.readTextFile({ toString: () => "{{SECRET}}" })`,
      `Deno.readTextFile(["{{SECRET}}"])`,
      `Deno.readTextFile(new String("{{SECRET}}"))`,
      `Deno.readTextFile({ href: "file:///x", pathname: "{{SECRET}}" })`,
      `Deno.readTextFile(null)`,
    ],
    sees: /TypeError|Empty path/,
  },
  {
    name: "gives paths that are too long, deep or strange",
    grant: HERE,
    tries: [
      `Deno.readTextFile("{{HERE}}/" + "a".repeat(5000))`,
      `Deno.readTextFile("{{HERE}}/" + "a/".repeat(2000))`,
      `Deno.mkdir("{{HERE}}/" + "a/".repeat(500), { recursive: true })`,
      `Deno.readTextFile("{{HERE}}/\\ud800")`,
      `Deno.readTextFile("~/.ssh/id_rsa")`,
      `Deno.readTextFile("file://{{SECRET}}")`,
      `Deno.readTextFile("{{HERE}}\\\\..\\\\..\\\\outside\\\\secret.txt")`,
    ],
    sees: /Error|NotFound|NotCapable|NotADirectory/,
  },
  {
    name: "removes a tree with a link to the outside in it",
    grant: HERE,
    prepare: ({ HERE: here, OUTSIDE }) => {
      mkdirSync(join(here, "tree/deep"), { recursive: true });
      symlinkSync(OUTSIDE, join(here, "tree/deep/link"));
      symlinkSync(OUTSIDE, join(here, "top"));
      return undefined;
    },
    tries: [`Deno.remove("{{HERE}}/tree", { recursive: true })`, `Deno.remove("{{HERE}}/top", { recursive: true })`],
    sees: /^undefined$|^nothing$/,
  },
  {
    name: "moves a link to the outside to where links are followed",
    grant: HERE,
    prepare: link(({ SECRET }) => SECRET, "link.txt"),
    body: `await tell(() => Deno.rename("{{HERE}}/link.txt", "{{HERE}}/plain.txt"));
      return { answer: [await tell(() => Deno.readTextFile("{{HERE}}/plain.txt")), await tell(() => Deno.writeTextFile("{{HERE}}/plain.txt", "x"))] };`,
    sees: /NotCapable.*NotCapable/s,
  },
  {
    name: "wins a race between the look at a path and its opening",
    grant: HERE,
    header: "timeout=4s",
    prepare: ({ HERE: here, OUTSIDE }) => {
      mkdirSync(join(here, "a"));
      writeFileSync(join(here, "a/secret.txt"), "harmless");
      symlinkSync(OUTSIDE, join(here, "b"));
      let open = true;
      const exchange = () => {
        for (let times = 0; times < 20; times += 1) {
          renameSync(join(here, "a"), join(here, "c"));
          renameSync(join(here, "b"), join(here, "a"));
          renameSync(join(here, "c"), join(here, "b"));
        }
        if (open) setImmediate(exchange);
      };
      setImmediate(exchange);
      return () => {
        open = false;
      };
    },
    body: `const kinds = {};
      for (let turn = 0; turn < 16; turn++) {
        const texts = await Promise.all(Array.from({ length: 8 }, () => tell(() => turn % 12 ? Deno.readTextFile("{{HERE}}/a/secret.txt") : Deno.writeTextFile("{{HERE}}/a/new.txt", "x"))));
        for (const text of texts) kinds[text.slice(0, 40)] = (kinds[text.slice(0, 40)] ?? 0) + 1;
      }
      return { answer: kinds };`,
    // Which of them is chance; what must not come is the secret.
    sees: /harmless|NotCapable|NotFound/,
  },
  {
    name: "makes a file that runs as its owner",
    grant: HERE,
    body: `await Deno.writeTextFile("{{HERE}}/tool", "x", { mode: 0o6777 }); await tell(() => Deno.mkdir("{{HERE}}/box", { mode: 0o7777 }));
      return { answer: [(await Deno.stat("{{HERE}}/tool")).mode & 0o7000, (await Deno.stat("{{HERE}}/box")).mode & 0o7000] };`,
    sees: /"result":\[0,0\]/,
  },
  {
    name: "reads and writes without any grant",
    tries: [
      `Deno.readTextFile("notes.txt")`,
      `Deno.readTextFile("./keeper/keeper.ts")`,
      `Deno.writeTextFile("innocent.ts", "x")`,
      `Deno.mkdir("x")`,
      `Deno.remove("innocent.ts")`,
      `Deno.stat(".")`,
    ],
    sees: DENIED,
  },
];
