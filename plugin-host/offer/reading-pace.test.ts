import { expect, test } from "vitest";
import { paceReading } from "./reading-pace.ts";

const MIB = 1024 * 1024;

test("an ordinary output is read without a rest, a flood with one after every 64 KiB", async () => {
  const pace = paceReading();
  for (let at = 0; at < MIB; at += 16 * 1024) expect(pace(16 * 1024)).toBeUndefined();
  for (let rests = 0; rests < 3; rests++) {
    for (let piece = 0; piece < 3; piece++) expect(pace(16 * 1024)).toBeUndefined();
    const rest = pace(16 * 1024);
    expect(rest).toBeInstanceOf(Promise);
    await rest;
  }
});

test("many small messages are a flood, too", async () => {
  const pace = paceReading();
  for (let message = 0; message < 64 + 3; message++) expect(pace(1)).toBeUndefined();
  const rest = pace(1);
  expect(rest).toBeInstanceOf(Promise);
  await rest;
});
