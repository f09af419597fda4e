import { type ClientHttp2Session, connect } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { LeasedProcess } from "../../sandbox/os/launcher.ts";
import { type FarLaunch, launchOver } from "./launch-over.ts";
import { fieldOf, hearLines, LINK_SETTINGS, MAX_OFFER_BYTES, PATHS, type StartOrder, sayLine, textOf } from "./wire.ts";

/** A silent connection is asked for a sign of life, and is lost when none comes before it is asked again. */
const SIGN_OF_LIFE_MS = 10_000;
/** The first thing that an agent says is what it brings. */
const OFFER_LIMIT_MS = 30_000;
/** What an agent may say beside: an offer again, or that its certificate is due. */
const MAX_LINES = 1_000;
/** A timer cannot wait longer; whoever has not come again by then is asked to. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Why it is sent away reaches it within this, or never. */
const FAREWELL_MS = 1_000;

/** What HTTP/2 lets a server say beside its answers. */
const UNWANTED = ["goaway", "origin", "altsvc"] as const;

/** What an agent says of the plugin that it brings. */
export type FarOffer = {
  /** Its plugin.json, as JSON. */
  readonly manifest: unknown;
  /** SHA-256 over its files, hex. */
  readonly filesSha256: string;
};

/** An agent that is connected. */
export type FarAgent = {
  launch(order: StartOrder, sockets: FarLaunch["sockets"]): LeasedProcess;
  /** What it brings; undefined when it goes before it says. */
  readonly offered: Promise<FarOffer | undefined>;
  /** Tells it why, and cuts the connection. Its processes are lost. `forGood` when it need not come again as it is. */
  dismiss(because: string, forGood?: boolean): void;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
};

export type FarAgentParts = {
  /** How long its certificate holds yet, milliseconds: so long the connection lives, unless it is made anew. */
  readonly leftMs: number;
  /** A certificate in place of one that is due; undefined when there is none for it. */
  readonly renew: (request: string) => Promise<string | undefined>;
};

/** Speaks to an agent whose certificate was judged. Everything that it says is a stranger's all the same. */
export function openFarAgent(socket: TLSSocket, { leftMs, renew }: FarAgentParts): FarAgent {
  const session: ClientHttp2Session = connect("http://agent", {
    createConnection: () => socket,
    settings: LINK_SETTINGS,
  });
  session.on("error", () => socket.destroy());
  // No agent of ours says such things: one ends a connection by halves, the others would be kept for as long as it lives.
  for (const event of UNWANTED) session.on(event, () => socket.destroy());
  const closed = Promise.withResolvers<void>();
  const offered = Promise.withResolvers<FarOffer | undefined>();
  const stopWatching = watchOver(session, socket);
  const expiry = setTimeout(() => agent.dismiss("its certificate ran out"), Math.min(leftMs, LONGEST_TIMER_MS)).unref();
  const silence = setTimeout(() => agent.dismiss("it does not say what it brings"), OFFER_LIMIT_MS).unref();
  socket.once("close", () => {
    clearTimeout(expiry);
    clearTimeout(silence);
    stopWatching();
    session.destroy();
    offered.resolve(undefined);
    closed.resolve();
  });
  const talk = session.request({ ":method": "POST", ":path": PATHS.agent });
  talk.on("error", () => {});
  talk.once("close", () => session.close());
  let lines = 0;
  hearLines(talk, {
    maxBytes: MAX_OFFER_BYTES,
    onNonsense: (what) => agent.dismiss(`it said ${what}`),
    onLine: (value) => {
      lines += 1;
      if (lines > MAX_LINES) return agent.dismiss("it talks too much");
      const filesSha256 = textOf(value, "filesSha256");
      if (filesSha256 !== undefined) {
        clearTimeout(silence);
        offered.resolve({ manifest: fieldOf(value, "manifest"), filesSha256 });
      }
      const request = textOf(value, "renew");
      if (request !== undefined) void renew(request).then((certificate) => sayLine(talk, { certificate }));
    },
  });
  let processes = 0;
  const agent: FarAgent = {
    launch: (order, sockets) => launchOver({ session, process: ++processes, order, sockets }),
    offered: offered.promise,
    dismiss(because, forGood = false) {
      sayLine(talk, { dismissed: because, forGood });
      talk.end(() => socket.destroySoon());
      setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
    },
    closed: closed.promise,
  };
  return agent;
}

/** Both ends do this: a machine that was switched off says nothing. */
export function watchOver(
  session: Pick<ClientHttp2Session, "ping" | "destroyed">,
  socket: Pick<TLSSocket, "destroy">,
): () => void {
  let answered = true;
  const timer = setInterval(() => {
    if (!answered || session.destroyed) return void socket.destroy();
    answered = false;
    session.ping((error) => {
      if (error === null) answered = true;
    });
  }, SIGN_OF_LIFE_MS).unref();
  return () => clearInterval(timer);
}
