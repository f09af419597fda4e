import type { PluginLink } from "../link/plugin-link.ts";
import type { Clock } from "./clock.ts";

const EVERY_MS = 15_000;
const ANSWER_LIMIT_MS = 2_000;
const MISSES_ALLOWED = 3;

/**
 * Asks a process every fifteen seconds whether it is there. Three times in a row without an answer, and `onDead` hears so,
 * once. The value ends the watch.
 */
export function watchHealth(
  link: Pick<PluginLink, "answers">,
  clock: Clock,
  onDead: (because: string) => void,
): () => void {
  let misses = 0;
  let isOver = false;
  let cancel = () => {};
  const look = async () => {
    const isAlive = await link.answers(ANSWER_LIMIT_MS).catch(() => false);
    if (isOver) return;
    misses = isAlive ? 0 : misses + 1;
    if (misses < MISSES_ALLOWED) next();
    else onDead(`it answered none of ${MISSES_ALLOWED} questions whether it is there`);
  };
  const next = () => {
    cancel = clock.after(EVERY_MS, () => void look());
  };
  next();
  return () => {
    isOver = true;
    cancel();
  };
}
