/** The limits of hook scripts. Times are milliseconds. */
export type IsolateLimits = {
  /** Heap of a hook's isolate, MiB. */
  readonly memoryMib: number;
  /** One entry into a hook: an answer up to its first wait, a timer, the rest after a wait. Wall time. */
  readonly sliceMs: number;
  /** The top level of a hook's module, up to its first wait. Wall time. */
  readonly loadMs: number;
  /** All slices of one event together, and of what it leaves running until the next. */
  readonly activeMs: number;
  /** How long a slice may take to settle after its time before its process is killed. */
  readonly stuckMs: number;
  /** From the launch of a hook host to its first word. */
  readonly startMs: number;
  /** How long a hook host without work is kept, the spare one included. */
  readonly idleMs: number;
  /** Processes of trust groups that live at one moment; one spare and those of scripts come on top. */
  readonly hostsMax: number;
  /** Isolates that one process holds at one moment. */
  readonly guestsMax: number;
  /** A process is replaced after so many isolates: their memory does not all come back. */
  readonly guestsPerLifeMax: number;
  /** Events of one trust group that are under way at one moment. */
  readonly eventsAtOnceMax: number;
  /** Events of one trust group that wait for one of these places. */
  readonly eventsWaitingMax: number;
  /** How long an event may wait for a process or for its turn. */
  readonly queueMs: number;
  /** Resident memory at which a process is replaced when it has no work, MiB. */
  readonly rssRecycleMib: number;
  /** Resident memory at which a process is killed, MiB. */
  readonly rssKillMib: number;
};

export const ISOLATE_LIMITS: IsolateLimits = {
  memoryMib: 32,
  sliceMs: 200,
  loadMs: 1000,
  activeMs: 2000,
  stuckMs: 500,
  startMs: 15_000,
  idleMs: 60_000,
  hostsMax: 8,
  guestsMax: 128,
  guestsPerLifeMax: 500,
  eventsAtOnceMax: 64,
  eventsWaitingMax: 256,
  queueMs: 30_000,
  rssRecycleMib: 300,
  rssKillMib: 800,
};
