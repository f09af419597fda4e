/** The limits of hook scripts. Times are milliseconds of wall time. */
export type IsolateLimits = {
  /** Heap of a hook's isolate, MiB. */
  readonly memoryMib: number;
  /** One entry into a hook: an answer up to its first wait, a timer, the rest after a wait. */
  readonly sliceMs: number;
  /** The top level of a hook's module. */
  readonly loadMs: number;
  /** How long a slice may take to settle after its time before its process is killed. */
  readonly stuckMs: number;
  /** From the launch of a hook host to its first word. */
  readonly startMs: number;
  /** How long a hook host without work is kept. */
  readonly idleMs: number;
  /** Wall time of a script of `claw run`. */
  readonly scriptMs: number;
};

export const ISOLATE_LIMITS: IsolateLimits = {
  memoryMib: 32,
  sliceMs: 200,
  loadMs: 1000,
  stuckMs: 500,
  startMs: 15_000,
  idleMs: 60_000,
  scriptMs: 60_000,
};
