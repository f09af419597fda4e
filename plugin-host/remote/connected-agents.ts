import type { TLSSocket } from "node:tls";
import type { Clock } from "../life/clock.ts";
import { issue, type Registrar, serveEnrolment } from "./enrolment.ts";
import { type FarAgent, openFarAgent } from "./far-agent.ts";
import { protocolOf } from "./handshake.ts";
import { judgePlugin } from "./judge-peer.ts";
import { keepOffer } from "./offer-folder.ts";
import type { Peer } from "./peers.ts";
import { ENROL_PROTOCOL } from "./wire.ts";

const REVOKED = "its certificate was revoked";

/** Agents with a line to here, at most one a name. */
export type ConnectedAgents = {
  find(name: string): FarAgent | undefined;
  /** Looks at who is behind a handshake: one that enrols, one that may connect, or nobody of ours. */
  receive(socket: TLSSocket): Promise<void>;
  /** Lets nobody in any more and sends away who is there; resolves when their lines are cut. */
  sendAway(): Promise<void>;
  /** Resolves when what they brought is kept, or given up. */
  kept(): Promise<void>;
};

export type ConnectedParts = {
  /** For what they bring. */
  readonly dir: string;
  readonly clock: Clock;
  readonly registrar: Registrar;
  /** Writes a line into the daemon's log. */
  readonly log: (line: string) => void;
  /** Writes a line about somebody who was not let in. */
  readonly complain: (line: string) => void;
  /** What an agent brings lies in a folder now. */
  readonly onOffer: (name: string, folder: string) => Promise<void>;
};

export function connectedAgents(parts: ConnectedParts): ConnectedAgents {
  const agents = new Map<string, FarAgent>();
  /** What agents brought and is being kept. */
  const keeping = new Set<Promise<void>>();
  const ending = new AbortController();

  /** Why whoever holds that certificate is not let in; undefined when it is. */
  function refusalOf(name: string, serial: string): string | undefined {
    if (ending.signal.aborted) return "the daemon ends";
    if (!isCounted(parts.registrar.peers.find(name), serial)) return REVOKED;
    return agents.has(name) ? "another agent of that name is connected" : undefined;
  }

  function letIn(name: string, agent: FarAgent): void {
    const { log } = parts;
    agents.set(name, agent);
    log(`remote plugin "${name}" is connected`);
    void agent.closed.then(() => {
      agents.delete(name);
      log(`remote plugin "${name}" is not connected any more`);
    });
    const kept = takeOffer(parts, name, agent)
      .catch((cause: unknown) => {
        log(`what remote plugin "${name}" brings cannot be taken: ${String(cause)}`);
        agent.dismiss("what it brings cannot be taken");
      })
      .finally(() => keeping.delete(kept));
    keeping.add(kept);
  }

  async function receive(socket: TLSSocket): Promise<void> {
    const { clock, complain } = parts;
    if (protocolOf(socket) === ENROL_PROTOCOL) {
      const name = await enrolBehind(parts, socket);
      // An agent of that name with the certificate before is not it any more.
      if (name !== undefined) agents.get(name)?.dismiss("another agent was enrolled in its place");
      return;
    }
    const shown = judgePlugin(socket, clock.now());
    if (!shown.ok) {
      complain(`an agent was refused: ${shown.failure.message}`);
      socket.destroy();
      return;
    }
    const { name, serial, untilMs } = shown.value;
    const renew = (request: string) => renewFor(parts, name, serial, request);
    const agent = openFarAgent(socket, { leftMs: untilMs - clock.now(), renew });
    const because = refusalOf(name, serial);
    if (because === undefined) return letIn(name, agent);
    complain(`an agent of "${name}" was refused: ${because}`);
    agent.dismiss(because, because === REVOKED);
  }

  return {
    receive,
    find: (name) => agents.get(name),
    async sendAway() {
      ending.abort();
      const connected = [...agents.values()];
      for (const agent of connected) agent.dismiss("the daemon ends");
      await Promise.all(connected.map(({ closed }) => closed));
    },
    kept: async () => void (await Promise.all(keeping)),
  };
}

/** The name of who was enrolled; undefined when nobody was. */
async function enrolBehind(
  { registrar, log, complain }: ConnectedParts,
  socket: TLSSocket,
): Promise<string | undefined> {
  const enrolled = await serveEnrolment(socket, registrar);
  if (!enrolled.ok) {
    complain(`an agent was not enrolled: ${enrolled.failure.message}`);
    return undefined;
  }
  log(`remote plugin "${enrolled.value.name}" is enrolled`);
  return enrolled.value.name;
}

/** Only while the certificate that it holds counts. */
async function renewFor({ registrar, log }: ConnectedParts, name: string, serial: string, request: string) {
  if (!isCounted(registrar.peers.find(name), serial)) return undefined;
  const issued = await issue(registrar, name, request, { isRenewal: true });
  if (issued.ok) log(`remote plugin "${name}" has a new certificate`);
  return issued.ok ? issued.value : undefined;
}

async function takeOffer({ dir, log, onOffer }: ConnectedParts, name: string, agent: FarAgent): Promise<void> {
  const offer = await agent.offered;
  if (offer === undefined) return;
  const kept = await keepOffer(dir, name, offer);
  if (kept.ok) {
    await onOffer(name, kept.value);
    return;
  }
  log(`remote plugin "${name}" was sent away: ${kept.failure.message}`);
  agent.dismiss(kept.failure.message);
}

function isCounted(peer: Peer | undefined, serial: string): boolean {
  return peer?.certificates.some((one) => one.serial === serial) === true;
}
