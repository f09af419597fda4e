import { expect, test } from "vitest";
import { retryingFetch } from "./retrying-fetch.ts";

/** Answers with these in turn; an Error is thrown. */
function tried(...answers: readonly (Response | Error)[]) {
  const pauses: number[] = [];
  let requests = 0;
  const fetch = retryingFetch({
    async fetch() {
      const answer = answers[requests];
      requests += 1;
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error("one request too many");
      return answer;
    },
    chance: () => 0,
    onPause: (ms) => pauses.push(ms),
    pause: async () => {},
  });
  return { fetch, pauses, requests: () => requests };
}

const status = (code: number, headers: Record<string, string> = {}) => new Response("", { status: code, headers });

test("a server that is overloaded or away is asked again, after longer and longer pauses", async () => {
  const { fetch, pauses, requests } = tried(status(503), new Error("refused"), status(200));
  expect((await fetch("http://h")).status).toBe(200);
  expect([requests(), pauses]).toEqual([3, [250, 500]]);
});

test("it is asked four times and no more", async () => {
  const { fetch, requests } = tried(status(500), status(500), status(500), status(500));
  expect((await fetch("http://h")).status).toBe(500);
  expect(requests()).toBe(4);
});

test("what is the request's own fault is not sent again", async () => {
  const { fetch, requests } = tried(status(400));
  expect((await fetch("http://h")).status).toBe(400);
  expect(requests()).toBe(1);
});

test("a server may say how long to wait, within reason", async () => {
  const { fetch, pauses } = tried(
    status(429, { "retry-after": "7" }),
    status(429, { "retry-after": "9999" }),
    status(200),
  );
  await fetch("http://h");
  expect(pauses).toEqual([7_000, 500]);
});
