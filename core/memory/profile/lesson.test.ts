import { expect, test } from "vitest";
import { EMPTY_PROFILE, profileText, type UserProfile } from "../../domain/profile.ts";
import { lessonPrompt, readLesson } from "./lesson.ts";

const ADA: UserProfile = { ...EMPTY_PROFILE, who: "Ada, in London", style: "short" };
const after = (reply: string, before = ADA) => {
  const read = readLesson(before, reply);
  return read.ok ? read.value : read.failure.message;
};

test("an answer changes what it names and keeps the rest, with or without fences and words around them", () => {
  const learned = { ...ADA, focus: "a compiler" };
  expect(after('{"focus": "a compiler"}')).toEqual(learned);
  expect(after('```json\n{"focus": "a compiler"}\n```')).toEqual(learned);
  expect(after('Here it is:\n```\n{"focus": "a compiler", "_meta": {"at": 1}}\n```\nThat was all.')).toEqual(learned);
  expect(after('{"style": ""}')).toEqual({ ...ADA, style: "" });
});

test("nothing new and the same again are no change", () => {
  expect(after("{}")).toBe(ADA);
  expect(after('{"who": "Ada,\\n in  London"}')).toBe(ADA);
  expect(after("{}", EMPTY_PROFILE)).toBe(EMPTY_PROFILE);
});

test("what is no profile is refused, and says why", () => {
  expect(after("I learned much")).toContain("not one JSON object");
  expect(after('["who"]')).toContain("not one JSON object");
  expect(after("")).toContain("not one JSON object");
  expect(after('{"who": 7}')).toContain("no string");
  expect(after('{"who": {"name": "Ada"}}')).toContain("no string");
  expect(after('{"name": "Ada"}')).toContain("none of the keys");
  expect(after('{"who": "", "style": ""}')).toContain("leave nothing");
  expect(after(JSON.stringify({ misc: "x".repeat(9_000) }))).toContain("characters long");
  expect(after('{"__proto__": {"who": "Eve"}}')).toContain("none of the keys");
});

test("a profile that is too long may only become shorter, and never nothing", () => {
  const long = { ...ADA, misc: "m".repeat(2_100) };
  expect(after('{"misc": "short"}', long)).toEqual({ ...ADA, misc: "short" });
  expect(after("{}", long)).toBe(long);
  expect(after(JSON.stringify({ misc: "n".repeat(2_200) }), long)).toContain("longer that is too long");
});

test("what would hide or reorder text is taken out", () => {
  expect(after('{"misc": "a\\u202eb\\u200bc\\nd\\u0007"}')).toEqual({ ...ADA, misc: "abc d" });
});

test("the model is asked with the profile and the messages as data, and to shorten only what is too long", () => {
  const { messages, tools } = lessonPrompt(ADA, ["first", 'second "quoted"'], "m");
  const text = JSON.stringify(messages);
  expect(tools).toEqual([]);
  expect(text.indexOf("first")).toBeLessThan(text.indexOf("second"));
  expect(text).not.toContain("too long");
  const asked = JSON.stringify(lessonPrompt({ ...ADA, misc: "m".repeat(2_100) }, [], "m").messages);
  expect(asked).toContain("too long");
  expect(asked).not.toContain("New messages");
});

test("a profile is told as indented JSON without what is not known", () => {
  expect(profileText(ADA)).toBe('{\n  "who": "Ada, in London",\n  "style": "short"\n}');
  expect(profileText(EMPTY_PROFILE)).toBe("");
});
