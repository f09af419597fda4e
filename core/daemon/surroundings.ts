/** The outside world, as the entry file found it. */
export type Surroundings = {
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** Milliseconds that never go back, for how long things take. */
  readonly ticks: () => number;
  readonly pid: number;
  readonly version: string;
  /** Folder of the bundled programs: hook host, guest prelude, ranking worker. */
  readonly programs: string;
  readonly nodeBinary: string;
  readonly nodeVersion: string;
  /** The isolated-vm addon that fits that Node. */
  readonly addonFile: string;
  /** Writes a line into the daemon's log. */
  readonly log: (line: string) => void;
  /** Writes down a broken promise of our own code. */
  readonly complain: (cause: unknown) => void;
  /** Begins the daemon's end. */
  readonly shutdown: () => void;
};
