import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type DenoRequest, type DenoVerdict, printAnswer, REQUEST_LIMIT_CHARS, readRequest } from "./broker-wire.ts";

/** Processes of one program that speak to the broker at once: a Deno that it starts inherits the way. */
const CONNECTIONS_MAX = 32;

export type BrokerDoorOptions = {
  /** Made with mode 0700 when it is missing. Its path should be short: at most 80 bytes. */
  readonly socketsDir: string;
  readonly judge: (request: DenoRequest) => Promise<DenoVerdict>;
  /** An answer that takes longer is none, milliseconds; more than a person has for theirs. */
  readonly answerLimitMs: number;
};

/** The permission broker of one program, on a unix socket of its own. */
export type BrokerDoor = {
  readonly socket: string;
  /**
   * Why a connection was given up, the first time that happened. There is no wrong answer: where something is amiss the
   * connection ends, and with it Deno does, with code 87.
   */
  readonly fault: string | undefined;
  /** Ends every connection; whoever asks then ends, too. */
  close(): Promise<void>;
};

/** Rejects when there can be no socket. */
export async function openBrokerDoor({ socketsDir, judge, answerLimitMs }: BrokerDoorOptions): Promise<BrokerDoor> {
  await mkdir(socketsDir, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(socketsDir, "d-"));
  const open = new Set<Socket>();
  let fault: string | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  /** One request after the other, whoever asks: a flood waits for itself. */
  function judgeInTurn(request: DenoRequest): Promise<DenoVerdict | undefined> {
    const judged = turn.then(() => withinLimit(judge(request), answerLimitMs));
    turn = judged.catch(() => undefined);
    return judged;
  }

  const server = createServer((connection) => {
    open.add(connection);
    connection.once("close", () => open.delete(connection));
    serveConnection(connection, judgeInTurn, (what) => {
      fault ??= what;
    });
  });
  server.maxConnections = CONNECTIONS_MAX;

  async function close(): Promise<void> {
    for (const connection of open) connection.destroy();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }

  const socket = join(folder, "s");
  try {
    await once(server.listen(socket), "listening");
  } catch (cause) {
    await close();
    throw cause;
  }
  return {
    socket,
    get fault() {
      return fault;
    },
    close,
  };
}

type JudgeInTurn = (request: DenoRequest) => Promise<DenoVerdict | undefined>;

/** One request at a time, in order, whole: Deno does nothing else, so whatever does is no Deno. */
function serveConnection(connection: Socket, judge: JudgeInTurn, onFault: (what: string) => void): void {
  let heard = "";
  let asked = 0;
  let isBusy = false;

  function giveUp(what: string): void {
    if (connection.destroyed) return;
    onFault(what);
    connection.destroy();
  }

  async function answer(line: string): Promise<void> {
    const request = readRequest(line);
    asked += 1;
    if (request?.id !== asked) return giveUp("it asked something that is no request of Deno's");
    isBusy = true;
    const verdict = await judge(request);
    isBusy = false;
    if (verdict === undefined) return giveUp("no answer was found in time");
    connection.write(printAnswer(request.id, verdict));
  }

  connection.setEncoding("utf8").on("error", () => connection.destroy());
  connection.on("data", (text: string) => {
    if (isBusy) return giveUp("it asked again before it was answered");
    heard += text;
    if (heard.length > REQUEST_LIMIT_CHARS) return giveUp(`it asked in more than ${REQUEST_LIMIT_CHARS} characters`);
    const end = heard.indexOf("\n");
    if (end < 0) return;
    if (end < heard.length - 1) return giveUp("it asked again before it was answered");
    const line = heard;
    heard = "";
    answer(line).catch(() => giveUp("the question could not be judged"));
  });
}

async function withinLimit<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), limitMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
