import { type Section, textOf } from "./section.ts";

/** The TCP port beside the socket; undefined for none. An empty token means one of the daemon's own. */
export type GatewaySettings = { readonly port: number; readonly token: string } | undefined;

const LAST_PORT = 65_535;

/** [gateway]. */
export const GATEWAY_SECTION: Section<GatewaySettings> = {
  keys: { "gateway.port": "number", "gateway.token": "string" },
  check(values) {
    const port = values.get("gateway.port");
    if (typeof port !== "number" || port <= LAST_PORT) return undefined;
    return { key: "gateway.port", what: `must be a port, not ${port}` };
  },
  read(values) {
    const port = values.get("gateway.port");
    return typeof port === "number" ? { port, token: textOf(values, "gateway.token") } : undefined;
  },
};
