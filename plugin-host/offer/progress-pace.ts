const BURST_LINES = 10;
const REFILL_MS = 100;
const SHOWN_LIMIT_UNITS = 2_000;

/** Shows a call's progress without flooding whoever watches: ten at once, then ten a second. */
export type ProgressPace = {
  /** A line, shown now or together with the next ones; of too many at once the last ones. */
  line(text: string): void;
  /** There may be news in what `more` gives. */
  news(): void;
  /** Shows what is left; nothing is shown after that. */
  end(): void;
};

/** `more` gives further lines, "" for none, whenever some may be shown. */
export function paceProgress(show: (lines: string) => void, more: () => string): ProgressPace {
  let free = BURST_LINES;
  let pending = "";
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  function keep(text: string): void {
    if (text !== "") pending = lastLines(pending === "" ? text : `${pending}\n${text}`);
  }

  function flush(): void {
    keep(more());
    if (pending === "") return;
    const text = pending;
    pending = "";
    free -= 1;
    show(text);
  }

  function refill(): void {
    free += 1;
    flush();
    if (free < BURST_LINES) return;
    clearInterval(timer);
    timer = undefined;
  }

  function news(): void {
    if (ended || free === 0) return;
    flush();
    if (free < BURST_LINES) timer ??= setInterval(refill, REFILL_MS).unref();
  }

  return {
    line(text) {
      if (ended) return;
      keep(text);
      news();
    },
    news,
    end() {
      if (ended) return;
      ended = true;
      clearInterval(timer);
      flush();
    },
  };
}

function lastLines(text: string): string {
  if (text.length <= SHOWN_LIMIT_UNITS) return text;
  const last = text.slice(-SHOWN_LIMIT_UNITS);
  return last.slice(last.indexOf("\n") + 1).toWellFormed();
}
