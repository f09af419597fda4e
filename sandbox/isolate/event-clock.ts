/** A time limit that can stand still. */
export type EventClock = {
  /** Stands still (true) or goes on. */
  hold(held: boolean): void;
  end(): void;
};

/** How often it looks whether it stands still, milliseconds: as much too long or too short may a time become. */
const TICK_MS = 50;

/**
 * Calls `onOver` once, when so many milliseconds have passed in which it was not held and `isHeld` said no.
 * `onHeldOver` is called when it was held by `hold` for longer than `holdLimitMs` in all.
 * @param now milliseconds
 */
export function eventClock(
  now: () => number,
  limitMs: number,
  holdLimitMs: number,
  isHeld: () => boolean,
  onOver: () => void,
  onHeldOver: () => void,
): EventClock {
  let leftMs = limitMs;
  let holdLeftMs = holdLimitMs;
  let held = false;
  let lastMs = now();
  let timer: NodeJS.Timeout | undefined;

  function count(): void {
    const nowMs = now();
    if (held) holdLeftMs -= nowMs - lastMs;
    else if (!isHeld()) leftMs -= nowMs - lastMs;
    lastMs = nowMs;
  }

  function tick(): void {
    count();
    timer = undefined;
    if (leftMs <= 0) onOver();
    else if (holdLeftMs <= 0) onHeldOver();
    else wait();
  }

  function wait(): void {
    timer = setTimeout(tick, Math.max(1, Math.min(TICK_MS, leftMs, holdLeftMs)));
  }

  wait();
  return {
    hold(wanted) {
      count();
      held = wanted;
    },
    end: () => clearTimeout(timer),
  };
}
