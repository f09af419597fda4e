import type { Socket } from "node:net";
import type { Result } from "../../core/domain/failure.ts";

/** Dials for one child, by its grant. */
export type ProxyDial = (host: string, port: number) => Promise<Result<Socket>>;

/** A connection on which nobody says anything for so long is given up. */
export const IDLE_LIMIT_MS = 10 * 60_000;
