import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { EventSchema, type EventSchema as Schema, TurnOutcome } from "../proto/gen/clawd/v1/event_pb.ts";
import { openTurnState, type WatchScope } from "./turn-state.ts";

type Body = NonNullable<MessageInitShape<typeof Schema>["body"]>;

function follow(plan: Partial<WatchScope>) {
  const exits: number[] = [];
  const state = openTurnState({ after: 0, showAfter: 0, muteHistory: false, until: "turn", ...plan }, (exit) =>
    exits.push(exit),
  );
  let seq = plan.after ?? 0;
  const hear = (body: Body): boolean => state.event(create(EventSchema, { seq: ++seq, body }));
  return {
    exits,
    state,
    hear,
    started: (turnId: string) => hear({ case: "turnStarted", value: { turnId } }),
    ended: (turnId: string, outcome: TurnOutcome) => hear({ case: "turnEnded", value: { turnId, outcome } }),
  };
}

test("say leaves with its own turn, not with one that ran before", () => {
  const { exits, state, started, ended } = follow({});
  started("old");
  state.caughtUp();
  ended("old", TurnOutcome.FAILED);
  state.said("mine");
  started("mine");
  expect(exits).toEqual([]);
  ended("mine", TurnOutcome.DONE);
  expect(exits).toEqual([0]);
});

test("say leaves also when its turn ended before the daemon's answer named it", () => {
  const { exits, state, started, ended } = follow({});
  state.caughtUp();
  started("mine");
  ended("mine", TurnOutcome.FAILED);
  expect(exits).toEqual([]);
  state.said("mine");
  expect(exits).toEqual([1]);
});

test("history stays silent when it was asked to, and so do events that the person has", () => {
  const muted = follow({ muteHistory: true });
  expect(muted.started("t")).toBe(false);
  muted.state.caughtUp();
  expect(muted.ended("t", TurnOutcome.DONE)).toBe(true);
  const after = follow({ showAfter: 1, until: "quiet" });
  expect(after.started("t")).toBe(false);
  expect(after.ended("t", TurnOutcome.DONE)).toBe(true);
});

test("attach leaves once no turn runs, at once or at the turn's end", () => {
  const idle = follow({ until: "quiet" });
  idle.started("t");
  idle.ended("t", TurnOutcome.FAILED);
  idle.state.caughtUp();
  expect(idle.exits).toEqual([0]);
  const busy = follow({ until: "quiet", showAfter: 9 });
  busy.started("t");
  busy.state.caughtUp();
  expect(busy.exits).toEqual([]);
  busy.ended("t", TurnOutcome.CANCELLED);
  expect(busy.exits).toEqual([1]);
});

test("the first Ctrl-C stops the turn, the second leaves; without a turn the first one leaves", () => {
  const busy = follow({});
  busy.started("t");
  expect(busy.state.interrupted()).toBe(true);
  expect(busy.exits).toEqual([]);
  expect(busy.state.interrupted()).toBe(false);
  expect(busy.exits).toEqual([130]);
  const idle = follow({ until: "person" });
  expect(idle.state.interrupted()).toBe(false);
  expect(idle.exits).toEqual([130]);
});

test("a message is said once, though a dialled-again stream catches up twice", () => {
  const { state } = follow({});
  expect(state.caughtUp()).toBe(true);
  expect(state.caughtUp()).toBe(false);
});
