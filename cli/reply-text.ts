/** Where a piece of a reply belongs. */
type Place = { readonly turnId: string; readonly step: number; readonly block: number };

/**
 * Prints each word of a reply exactly once, whether it came as a delta, in the event that closes its block, or both,
 * with or without a reconnection between. Each function returns what has to be printed now.
 */
export type ReplyText = {
  /** `offset` is where `text` begins in its block, UTF-16 code units. */
  delta(place: Place, offset: number, text: string): string;
  /** The block is whole: prints what the deltas left out and the newline that it may lack, and forgets the block. */
  blockEnded(place: Place, text: string): string;
  /** True when the last thing printed is part of a line. */
  isMidLine(): boolean;
  /** The newline that a block which never ended still lacks, if any. */
  finish(): string;
};

export function openReplyText(): ReplyText {
  /** What was printed of each open block. Blocks are few: a turn has one reply at a time. */
  const printed = new Map<string, string>();
  let lastKey = "";
  let atLineStart = true;

  function emit(key: string, text: string, fresh: boolean): string {
    if (text === "") return "";
    const breakFirst = (fresh || (lastKey !== "" && lastKey !== key)) && !atLineStart;
    lastKey = key;
    atLineStart = text.endsWith("\n");
    return breakFirst ? `\n${text}` : text;
  }

  function close(): string {
    lastKey = "";
    if (atLineStart) return "";
    atLineStart = true;
    return "\n";
  }

  return {
    delta(place, offset, text) {
      const key = keyOf(place);
      const known = printed.get(key) ?? "";
      // Pieces are missing before this one (a slow reader is spared deltas): the closing event brings them all.
      if (offset > known.length) return "";
      const overlap = known.slice(offset);
      if (overlap.startsWith(text)) return "";
      if (text.startsWith(overlap)) {
        printed.set(key, known + text.slice(overlap.length));
        return emit(key, text.slice(overlap.length), false);
      }
      // A restarted daemon asked the model again, and it said something else.
      printed.set(key, known.slice(0, offset) + text);
      return emit(key, known.slice(0, offset) + text, true);
    },
    blockEnded(place, text) {
      const key = keyOf(place);
      const known = printed.get(key) ?? "";
      printed.delete(key);
      return (text.startsWith(known) ? emit(key, text.slice(known.length), false) : emit(key, text, true)) + close();
    },
    isMidLine: () => !atLineStart,
    finish() {
      printed.clear();
      return close();
    },
  };
}

function keyOf(place: Place): string {
  return `${place.turnId}/${place.step}/${place.block}`;
}
