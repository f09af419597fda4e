import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { EscapeCase } from "../escape-case.ts";

export const PROMPTS: readonly EscapeCase[] = [
  {
    name: "shows a person the name of a link instead of where it leads",
    word: { said: "no", scope: "once" },
    prepare: ({ HERE: here, SECRET }) => {
      symlinkSync(SECRET, join(here, "harmless.txt"));
      return undefined;
    },
    tries: [`Deno.readTextFile("{{HERE}}/harmless.txt")`],
    sees: /NotCapable/,
    also: ({ conversation: { questions } }) =>
      questions.length === 1 && questions[0]?.permission.endsWith("/outside/secret.txt")
        ? undefined
        : JSON.stringify(questions),
  },
  {
    name: "writes control letters into a question",
    word: { said: "no", scope: "once" },
    tries: [`Deno.readTextFile("/x\\u001b[2J\\u202e\\u200bgood\\r\\nhook:other wants read=/y")`],
    sees: /NotCapable/,
    also: ({ conversation: { questions } }) => {
      const text = questions.map(({ permission }) => permission).join("");
      return text !== "" && [...text].every((letter) => letter >= " " && !/[\u202e\u200b]/.test(letter))
        ? undefined
        : JSON.stringify(text);
    },
  },
  {
    name: "asks until somebody gives in",
    word: { said: "no", scope: "once" },
    body: `for (let at = 0; at < 60; at++) await Deno.readTextFile("/x" + at).catch(() => {}); return { answer: "asked" };`,
    sees: /asked/,
    also: ({ conversation: { questions } }) => (questions.length > 3 ? `${questions.length} questions` : undefined),
  },
  {
    name: "asks the same thing again",
    word: { said: "no", scope: "session" },
    body: `for (let at = 0; at < 10; at++) await Deno.permissions.request({ name: "env", variable: "CANARY_VALUE" }); return { answer: await tell(() => Deno.env.get("CANARY_VALUE")) };`,
    sees: /NotCapable/,
    also: ({ conversation: { questions } }) => (questions.length === 1 ? undefined : JSON.stringify(questions)),
  },
  {
    name: "asks many things at one moment",
    word: { said: "no", scope: "once" },
    body: `await Promise.allSettled(Array.from({ length: 50 }, (_, at) => Deno.readTextFile("/y" + at))); await Promise.allSettled(Array.from({ length: 50 }, (_, at) => Deno.permissions.request({ name: "read", path: "/z" + at }))); return { answer: "asked" };`,
    sees: /asked/,
    also: ({ conversation: { questions } }) => (questions.length > 3 ? `${questions.length} questions` : undefined),
  },
  {
    name: "asks what nobody could read to its end",
    word: { said: "yes", scope: "always" },
    tries: [
      `Deno.readTextFile("/" + "long/".repeat(500) + "../../../../{{SECRET}}")`,
      `Deno.permissions.request({ name: "read", path: "/" + "x/".repeat(600) }).then(({ state }) => { if (state === "denied") throw new Error("NotCapable") })`,
    ],
    sees: /NotCapable|NotFound/,
    also: ({ conversation: { questions } }) =>
      questions.length === 0 ? undefined : JSON.stringify(questions).slice(0, 300),
  },
  {
    name: "tells a no from nobody",
    body: `return { answer: (await tell(() => Deno.readTextFile("/nobody"))).split("\\n")[0].replaceAll("nobody", "X") };`,
    sees: /Requires read access to \\"\/X\\", add \\"@allow read=\/X\\" to the hook's header/,
  },
  {
    name: "gets a yes for one file and takes its folder",
    word: { said: "yes", scope: "session" },
    body: `const first = await Deno.readTextFile("{{HERE}}/notes.txt");
      const states = []; for (const path of ["{{HERE}}", "{{HERE}}/other.txt", "{{HERE}}/notes.txt.bak", "{{HERE}}/notes.txt/../x"]) states.push((await Deno.permissions.query({ name: "read", path })).state);
      return { answer: [first, states] };`,
    sees: /harmless.*\["prompt","prompt","prompt","prompt"\]/s,
  },
  {
    name: "gets a yes for a path and puts a link there",
    grant: "write={{HERE}} read={{HERE}}/links",
    word: { said: "yes", scope: "once" },
    prepare: ({ HERE: here, SECRET }) => {
      symlinkSync(SECRET, join(here, "later"));
      return undefined;
    },
    body: `const state = (await Deno.permissions.request({ name: "read", path: "{{HERE}}/notes.txt" })).state;
      await tell(() => Deno.remove("{{HERE}}/notes.txt")); const moved = await tell(() => Deno.rename("{{HERE}}/later", "{{HERE}}/notes.txt"));
      return { answer: [state, moved] };`,
    sees: /granted/,
  },
];
