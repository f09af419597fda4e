import type { Segment } from "./segment.ts";

// What is said in a conversation is often about what stands next to it. Neighbours are those of the conversation, in
// whatever segments they lie: a conversation that goes on is spread over several.

/** What a message adds to the one after it and to the one before it. */
const NEIGHBOURS = { previous: 0.3, next: 0.15 } as const;

/** Scores by row. */
export type ScoredSegment = {
  readonly segment: Segment;
  /** A byte a row, other than 0 for a row that is gone: it is nobody's neighbour. */
  readonly dead: Uint8Array | undefined;
  readonly scores: Float64Array;
  /** Written to, all of it. */
  readonly smoothed: Float64Array;
};

/** Gives every living message a share of its neighbours' scores; all else keeps its own. */
export function smoothScores(parts: readonly ScoredSegment[]): void {
  const { apart, chains } = placesOf(parts.map(({ segment }) => segment));
  for (const [which, part] of parts.entries()) smoothRows(part, apart[which] ?? NONE);
  for (const chain of chains) smoothChain(parts, chain);
}

const NONE = new Uint8Array();

/** Conversations whose messages stand side by side; those that are apart keep their own scores for now. */
function smoothRows({ segment, dead, scores, smoothed }: ScoredSegment, apart: Uint8Array): void {
  const { documents, rowGroups } = segment;
  const { talkOfGroup } = talksOf(segment);
  let before = -1;
  let talkBefore = -1;
  let scoreBefore = 0;
  for (let row = 0; row < documents; row += 1) {
    const talk = talkOfGroup[rowGroups[row] ?? 0] ?? -1;
    const gone = talk >= 0 && dead !== undefined && dead[row] !== 0;
    const own = gone ? 0 : (scores[row] ?? 0);
    smoothed[row] = own;
    if (gone || talk < 0 || apart[talk] === 1) continue;
    // Most rows have no score, nor do their neighbours.
    if (talk === talkBefore && scoreBefore !== 0) smoothed[row] = own + NEIGHBOURS.previous * scoreBefore;
    if (talk === talkBefore && own !== 0) smoothed[before] = (smoothed[before] ?? 0) + NEIGHBOURS.next * own;
    before = row;
    talkBefore = talk;
    scoreBefore = own;
  }
}

function smoothChain(parts: readonly ScoredSegment[], { segments, rows }: Chain): void {
  let before: { readonly smoothed: Float64Array; readonly row: number; readonly own: number } | undefined;
  for (let at = 0; at < rows.length; at += 1) {
    const part = parts[segments[at] ?? 0];
    const row = rows[at] ?? 0;
    if (part === undefined || (part.dead !== undefined && part.dead[row] !== 0)) continue;
    const own = part.scores[row] ?? 0;
    if (before !== undefined) {
      part.smoothed[row] = own + NEIGHBOURS.previous * before.own;
      before.smoothed[before.row] = (before.smoothed[before.row] ?? 0) + NEIGHBOURS.next * own;
    }
    before = { smoothed: part.smoothed, row, own };
  }
}

type Talks = {
  /** For each group the number of its conversation in this segment, -1 for what is in none. */
  readonly talkOfGroup: Int32Array;
  readonly sessionIds: readonly string[];
  /** 1 for one whose messages stand side by side, in their order. */
  readonly orderly: Uint8Array;
};

const knownTalks = new WeakMap<Segment, Talks>();

function talksOf(segment: Segment): Talks {
  const known = knownTalks.get(segment);
  if (known !== undefined) return known;
  const numbers = new Map<string, number>();
  const talkOfGroup = Int32Array.from(segment.groups(), ({ kind, sessionId }) => {
    if (kind !== "conversation") return -1;
    const number = numbers.get(sessionId) ?? numbers.size;
    numbers.set(sessionId, number);
    return number;
  });
  const talks = { talkOfGroup, sessionIds: [...numbers.keys()], orderly: findOrderly(segment, talkOfGroup, numbers) };
  knownTalks.set(segment, talks);
  return talks;
}

function findOrderly(
  { documents, rowGroups, places }: Segment,
  talkOfGroup: Int32Array,
  { size }: ReadonlyMap<string, number>,
): Uint8Array {
  const orderly = new Uint8Array(size).fill(1);
  const last = new Int32Array(size).fill(-1);
  for (let row = 0; row < documents; row += 1) {
    const talk = talkOfGroup[rowGroups[row] ?? 0] ?? -1;
    if (talk < 0) continue;
    const before = last[talk] ?? -1;
    if (before >= 0 && (before !== row - 1 || (places[before] ?? 0) > (places[row] ?? 0))) orderly[talk] = 0;
    last[talk] = row;
  }
  return orderly;
}

/** A conversation whose messages are apart, in its order: in which segment, in which row. */
type Chain = { readonly segments: Uint32Array; readonly rows: Uint32Array };

type Places = {
  readonly segments: readonly Segment[];
  /** For each segment and conversation in it: 1 when that is in a chain. */
  readonly apart: readonly Uint8Array[];
  readonly chains: readonly Chain[];
};

/** By the first segment; only of the last segments that were searched with it. */
const knownPlaces = new WeakMap<Segment, Places>();

function placesOf(segments: readonly Segment[]): Places {
  const [first] = segments;
  if (first === undefined) return { segments, apart: [], chains: [] };
  const known = knownPlaces.get(first);
  if (known?.segments.length === segments.length && segments.every((one, at) => one === known.segments[at]))
    return known;
  const places = findPlaces(segments);
  knownPlaces.set(first, places);
  return places;
}

function findPlaces(segments: readonly Segment[]): Places {
  /** How many segments each conversation is in; of one that is out of order, one more than it is. */
  const spread = new Map<string, number>();
  for (const segment of segments) {
    const { sessionIds, orderly } = talksOf(segment);
    for (const [talk, id] of sessionIds.entries()) spread.set(id, (spread.get(id) ?? 0) + 2 - (orderly[talk] ?? 0));
  }
  const apart = segments.map((segment) =>
    Uint8Array.from(talksOf(segment).sessionIds, (id) => ((spread.get(id) ?? 0) > 1 ? 1 : 0)),
  );
  return { segments, apart, chains: chainUp(segments, apart) };
}

function chainUp(segments: readonly Segment[], apart: readonly Uint8Array[]): Chain[] {
  const messages = new Map<string, { readonly which: number; readonly row: number; readonly place: number }[]>();
  for (const [which, segment] of segments.entries()) {
    if (apart[which]?.includes(1) !== true) continue;
    const { talkOfGroup, sessionIds } = talksOf(segment);
    for (let row = 0; row < segment.documents; row += 1) {
      const talk = talkOfGroup[segment.rowGroups[row] ?? 0] ?? -1;
      if (talk < 0 || apart[which][talk] !== 1) continue;
      const id = sessionIds[talk] ?? "";
      const chain = messages.get(id) ?? [];
      chain.push({ which, row, place: segment.places[row] ?? 0 });
      messages.set(id, chain);
    }
  }
  return Array.from(messages.values(), (chain) => {
    chain.sort((a, b) => a.place - b.place);
    return {
      segments: Uint32Array.from(chain, ({ which }) => which),
      rows: Uint32Array.from(chain, ({ row }) => row),
    };
  });
}
