import type { NetworkAccess } from "../../sandbox/os/launcher.ts";
import type { Grant, Permission } from "../../sandbox/permission/permission.ts";

/** What commands get of the network: the host's as it is, none, or what a grant's `net` permissions say. */
export type ShellNetwork = "host" | "none" | Grant;

/** Of the connections that one command was denied, as many are told. */
const NOTES_LIMIT = 5;

/** For the model: a sentence. */
export function describeNetwork(network: ShellNetwork): string {
  if (network === "host") return "It has the host's network.";
  if (network === "none") return "There is no network.";
  return "The network is behind a proxy, which the environment names, and only what was configured is reached.";
}

/** What a command with that network may touch. */
export function netNeeds(network: ShellNetwork): readonly Permission[] {
  if (network === "host") return [{ kind: "net" }];
  return network === "none" ? [] : network.allow;
}

/** The network of one command, and what it asked for in vain. */
export type CommandNetwork = {
  readonly access: NetworkAccess;
  /** Lines for the model, each in brackets; empty when nothing was denied. */
  notes(): string;
};

export function openCommandNetwork(network: ShellNetwork): CommandNetwork {
  if (typeof network === "string") return { access: network, notes: () => "" };
  const denied = new Set<string>();
  let more = 0;
  return {
    access: {
      grant: network,
      onDenied({ message }) {
        if (denied.has(message)) return;
        if (denied.size < NOTES_LIMIT) denied.add(message);
        else more += 1;
      },
    },
    notes() {
      const lines = [...denied].map((message) => `\n[network: ${message}; [shell] net in config.toml opens more]`);
      return [...lines, ...(more > 0 ? [`\n[network: ${more} more connections were denied]`] : [])].join("");
    },
  };
}
