import { execFile, spawnSync } from "node:child_process";
import {
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Ran } from "./claw.ts";
import { echoWebSocket } from "./web-socket-echo.ts";

const CORPUS = join(import.meta.dirname, "../deno");
/** Longest a script of the corpus may take, when the machine is busy with others. */
const RUN_LIMIT_MS = 25_000;

/** One script and what its first lines say about it. */
export type CorpusScript = {
  readonly name: string;
  readonly flags: string;
  readonly args: string;
  /** `D4`: the line of docs/permissions.md that says why clawd does not do what Deno does. */
  readonly stricter: string | undefined;
  /** What clawd says instead. */
  readonly says: string;
  /** Both refuse the flags themselves. */
  readonly refused: boolean;
  readonly needsBubblewrap: boolean;
  /** What it reads. */
  readonly input: string;
};

/** Variables that every script could see, if it were let. */
export const CORPUS_ENV = { CORPUS_NAME: "corpus", CORPUS_OTHER: "other", CORPUS_EMPTY: "", CORPUS_API_KEY: "hush" };

export function readCorpus(): readonly CorpusScript[] {
  return readdirSync(CORPUS)
    .filter((file) => file.endsWith(".ts"))
    .map((file) => {
      const text = readFileSync(join(CORPUS, file), "utf8");
      const field = (name: string) => new RegExp(`^// ${name}:(.*)$`, "m").exec(text)?.[1]?.trim();
      return {
        name: file,
        flags: field("flags") ?? "",
        args: field("args") ?? "",
        stricter: field("stricter"),
        says: field("says") ?? "",
        refused: field("refused") !== undefined,
        needsBubblewrap: field("needs") === "bubblewrap",
        input: (field("input") ?? "").replaceAll("\\n", "\n"),
      };
    });
}

export function hasBubblewrap(): boolean {
  return spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0;
}

/** A fresh folder as every script finds it: files, folders, links in and out, and the script itself. */
export function openCorpusFolder(script: string, parent: string): string {
  const folder = mkdtempSync(join(parent, "run-"));
  const at = (path: string) => join(folder, path);
  mkdirSync(at("folder/deeper"), { recursive: true });
  mkdirSync(at(".git"));
  writeFileSync(at("notes.txt"), "first line\nsecond line: ü\n");
  writeFileSync(at("empty.txt"), "");
  writeFileSync(at("secret.txt"), "the secret\n");
  writeFileSync(at("twice.txt"), "two names\n");
  writeFileSync(at("bytes.bin"), Buffer.from([0, 1, 127, 128, 255]));
  writeFileSync(at("folder/inner.txt"), "inside\n");
  writeFileSync(at(".git/config"), "[core]\n");
  linkSync(at("twice.txt"), at("twice-again.txt"));
  symlinkSync("notes.txt", at("link-to-notes"));
  symlinkSync("nowhere", at("dangling"));
  symlinkSync("../notes.txt", at("folder/link-out"));
  symlinkSync("../secret.txt", at("folder/link-to-secret"));
  cpSync(join(CORPUS, "lib"), at("lib"), { recursive: true });
  cpSync(join(CORPUS, script), at(script));
  return folder;
}

/** Runs a program in a folder and hears it to its end. */
export function runIn(
  folder: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  input: string,
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env, cwd: folder, timeout: RUN_LIMIT_MS, killSignal: "SIGKILL", encoding: "utf8" } as const;
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
    // Who ends without reading what it is given breaks the pipe, and may.
    child.stdin?.on("error", () => undefined).end(input);
  });
}

/** What has to be the same: the exit code, what is printed, and how the run ended. */
export type Verdict = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Without what differs from run to run: the folder; and of an error only its name, since its words are each one's own. */
export function verdictOf({ code, stdout, stderr }: Ran, folder: string): Verdict {
  const plain = (text: string) => text.replaceAll(folder, "FOLDER");
  return { code, stdout: plain(stdout), stderr: code === 0 ? plain(stderr) : errorName(stderr) };
}

function errorName(stderr: string): string {
  const line = /^error: (.*)$/m.exec(stderr)?.[1] ?? "";
  const [, thrown] = /^Uncaught (?:\(in promise\) )?(.*)$/.exec(line) ?? [];
  // Who finds a fault of syntax, and when, is no part of the program.
  if (thrown === undefined || thrown.startsWith("SyntaxError: ")) return line === "" ? "" : "refused";
  return /^([A-Za-z_$][\w$]*)(?:: |$)/.exec(thrown)?.[1] ?? thrown;
}

/** The folder in which the folders of runs are made. */
export function openCorpusParent(): string {
  return mkdtempSync(join(tmpdir(), "clawd-deno-"));
}

/** A web server on the loopback interface for the scripts that fetch. */
export async function startCorpusServer(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  server.on("upgrade", (request, socket) => {
    if (request.url === "/socket") echoWebSocket(request, socket);
    else socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  const body = Buffer.concat(pieces).toString();
  const [, route = "", rest = ""] = (request.url ?? "").split("/");
  const redirect = (status: number, location: string) => response.writeHead(status, { location }).end();
  switch (route) {
    case "text":
      return void response
        .setHeader("content-type", "text/plain;charset=UTF-8")
        .setHeader("x-corpus", "yes")
        .end("plain text");
    case "json":
      return void response.setHeader("content-type", "application/json").end('{"a":[1,"ü"]}');
    case "echo":
      return void response.end(
        JSON.stringify({
          method: request.method,
          body,
          type: request.headers["content-type"] ?? "",
          own: request.headers["x-own"] ?? "",
        }),
      );
    case "status":
      return void response.writeHead(Number(rest)).end(rest === "204" ? undefined : `status ${rest}`);
    case "gzip":
      return void response.setHeader("content-encoding", "gzip").end(gzipSync("z".repeat(100_000)));
    case "redirect":
      return void redirect(302, "/text");
    case "redirect-loop":
      return void redirect(302, "/redirect-loop");
    case "redirect-away":
      return void redirect(302, "http://127.0.0.1:1234/");
    case "redirect-to-echo":
      return void redirect(Number(rest), "/echo");
    case "never":
      return;
    default:
      return void response.writeHead(404).end();
  }
}
