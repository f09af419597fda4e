import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EscapeCase } from "../escape-case.ts";

/** Where nothing would hold a command, it is not begun. */
const CONFINED = { none: /NotCapable: Requires an OS sandbox/ } as const;

/** What a command prints, both streams together. */
function printed(program: string, ...args: readonly string[]): string {
  return `new Deno.Command("${program}", { args: ${JSON.stringify(args)} }).output().then(({ stdout, stderr, code }) => code + " " + new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr))`;
}

const shell = (line: string) => printed("sh", "-c", line);

export const COMMANDS: readonly EscapeCase[] = [
  {
    name: "runs a program that it was not granted, or by another name",
    grant: "run=true",
    tries: [
      printed("cat", "{{SECRET}}"),
      printed("/bin/cat", "{{SECRET}}"),
      printed("../../../../bin/cat", "{{SECRET}}"),
      printed("true/../cat", "{{SECRET}}"),
      printed(""),
    ],
    sees: /NotCapable|NotFound|Empty path/,
  },
  {
    name: "reads a secret with a granted program",
    grant: "run=cat",
    tries: [printed("cat", "{{SECRET}}"), printed("cat", "{{TOKEN}}")],
    sees: { ...CONFINED, bubblewrap: /^1 .*No such file/s },
  },
  {
    name: "reads through its descriptors, its parents and the root of others",
    grant: "run=sh",
    tries: [
      shell("cat /proc/1/environ /proc/self/environ | tr '\\0' ' '"),
      shell("cat /proc/*/environ | tr '\\0' ' '"),
      shell("cat /proc/1/root{{SECRET}}; cat /proc/self/cwd/../..{{SECRET}}"),
      shell("for fd in /proc/self/fd/* /proc/1/fd/*; do timeout 1 head -c 200 $fd; done < /dev/null"),
      shell("ls {{OUTSIDE}} {{HOME}}; cat /etc/shadow"),
    ],
    sees: { ...CONFINED, bubblewrap: /^\d+ /s },
  },
  {
    name: "writes outside with a granted program",
    grant: "run=sh read={{HERE}} write={{HERE}}",
    tries: [
      shell(
        "echo x > {{OUTSIDE}}/evil; echo x > {{HOOKS}}/evil.ts; echo x > {{HERE}}/../evil; mkdir {{HERE}}/.git 2>&1; ln -s {{SECRET}} {{HERE}}/planted; cat {{HERE}}/planted",
      ),
    ],
    sees: { ...CONFINED, bubblewrap: /No such file|Read-only|nonexistent|Directory/ },
  },
  {
    name: "reads by a link that its program has planted",
    grant: "run=ln read={{HERE}} write={{HERE}}",
    body: `const made = await tell(() => new Deno.Command("ln", { args: ["-s", "{{SECRET}}", "{{HERE}}/planted"] }).output().then(({ code }) => "made " + code));
      return { answer: [made.split("\\n")[0], await tell(() => Deno.readTextFile("{{HERE}}/planted"))] };`,
    sees: { bubblewrap: /made 0.*NotCapable/s, none: /OS sandbox.*NotFound/s },
  },
  {
    name: "reaches the network with a granted program",
    grant: "run=node",
    tries: [
      printed(
        "node",
        "-e",
        "fetch('http://127.0.0.1:{{SECRET_PORT}}/').then((r) => r.text()).then(console.log, (e) => console.log(String(e.cause)))",
      ),
    ],
    sees: { ...CONFINED, bubblewrap: /^\d+ |NotFound/ },
  },
  {
    name: "goes past its proxy with a granted program",
    grant: "run=node net=example.com",
    tries: [
      printed(
        "node",
        "-e",
        "require('net').connect({{SECRET_PORT}}, '127.0.0.1').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code)).write('GET / HTTP/1.0\\r\\n\\r\\n')",
      ),
      printed(
        "node",
        "-e",
        "const proxy = new URL(process.env.HTTP_PROXY); require('http').get({ host: proxy.hostname, port: proxy.port, path: 'http://127.0.0.1:{{SECRET_PORT}}/' }, (r) => { console.log(r.statusCode); r.pipe(process.stdout) }).on('error', (e) => console.log(e.code))",
      ),
    ],
    sees: { ...CONFINED, bubblewrap: /ECONNREFUSED|403|EPERM|EACCES|ENETUNREACH|NotFound/ },
  },
  {
    name: "sets variables that make programs load code",
    grant: "run=true",
    tries: ["LD_PRELOAD", "LD_LIBRARY_PATH", "ld_audit", "NODE_OPTIONS", "DYLD_INSERT_LIBRARIES"].map(
      (name) => `new Deno.Command("true", { env: { "${name}": "x" } }).output()`,
    ),
    sees: /NotCapable: .*never granted/,
  },
  {
    name: "gives programs and variables that are none",
    grant: "run=true",
    tries: [
      `new Deno.Command("true\\0x").output()`,
      `new Deno.Command("true", { args: ["a\\0b"] }).output()`,
      `new Deno.Command("true", { env: { "A=B": "x" } }).output()`,
      `new Deno.Command("true", { env: { "A\\0": "x" } }).output()`,
    ],
    sees: /TypeError|NotCapable/,
  },
  {
    name: "exchanges the file of a granted program",
    grant: "read={{HERE}} write={{HERE}} run={{HERE}}/tool",
    prepare: ({ HERE: here }) => {
      writeFileSync(join(here, "tool"), "#!/bin/sh\necho granted\n");
      chmodSync(join(here, "tool"), 0o755);
      symlinkSync("/bin/cat", join(here, "other"));
      return undefined;
    },
    body: `const moved = await tell(() => Deno.rename("{{HERE}}/tool", "{{HERE}}/old").then(() => Deno.rename("{{HERE}}/other", "{{HERE}}/tool")));
      return { answer: [moved, await tell(() => new Deno.Command("{{HERE}}/tool", { args: ["{{SECRET}}"] }).output())] };`,
    sees: /NotCapable/,
  },
  {
    name: "leaves a process behind",
    grant: "run=sh",
    tries: [shell("(while :; do :; done) & (setsid sleep 300 &) ; echo left")],
    sees: { ...CONFINED, bubblewrap: /left/ },
  },
  {
    name: "makes hundreds of processes that stay",
    grant: "run=sh",
    header: "timeout=3s",
    tries: [shell("for i in $(seq 300); do sleep 60 & done; echo made")],
    sees: { ...CONFINED, bubblewrap: /./s },
  },
  {
    name: "starts where it may not look",
    grant: "run=ls",
    tries: [
      `new Deno.Command("ls", { cwd: "{{OUTSIDE}}" }).output()`,
      `new Deno.Command("ls", { cwd: "/proc/self/root{{OUTSIDE}}" }).output()`,
    ],
    sees: /NotCapable/,
  },
];
