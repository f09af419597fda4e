import type { EscapeCase } from "../escape-case.ts";

export const AUDIT: readonly EscapeCase[] = [
  {
    name: "acts where nothing can be recorded",
    grant: "read={{HERE}} write={{HERE}} net=localhost:{{PORT}} tool memory run=true",
    unrecorded: true,
    tries: [
      `Deno.readTextFile("{{HERE}}/notes.txt")`,
      `Deno.writeTextFile("{{HERE}}/unrecorded", "x")`,
      `Deno.remove("{{HERE}}/notes.txt")`,
      `fetch("http://localhost:{{PORT}}/")`,
      `clawd.tool("read", {})`,
      `clawd.memory.search("x")`,
      `new Deno.Command("true").output()`,
    ],
    sees: { bubblewrap: /could not be recorded/, none: /could not be recorded|OS sandbox/ },
  },
  {
    name: "takes the environment where nothing can be recorded",
    grant: "env=CANARY_VALUE",
    unrecorded: true,
    tries: [`Deno.env.get("CANARY_VALUE")`],
    sees: /could not be recorded/,
  },
  {
    name: "gets a yes where nothing can be recorded",
    word: { said: "yes", scope: "always" },
    unrecorded: true,
    tries: [
      `Deno.readTextFile("{{HERE}}/notes.txt")`,
      `Deno.permissions.request({ name: "env", variable: "CANARY_VALUE" })`,
    ],
    sees: /could not be recorded/,
  },
  {
    name: "touches things in secret",
    grant: "read={{HERE}} write={{HERE}} env=PLAIN",
    body: `await Deno.readTextFile("{{HERE}}/notes.txt"); await Deno.stat("{{HERE}}"); await Deno.writeTextFile("{{HERE}}/seen", "x"); await Deno.readTextFile("{{SECRET}}").catch(() => {}); for await (const _ of Deno.readDir("{{HERE}}")); await Deno.rename("{{HERE}}/seen", "{{HERE}}/moved"); return { answer: Deno.env.get("PLAIN") };`,
    sees: /plain/,
    also: ({ conversation: { decisions } }) => {
      const said = decisions.map(({ permission, allowed }) => `${permission.split("=")[0]} ${allowed}`).join(", ");
      const wanted =
        "env true, read true, read true, write true, read false, read true, read true, write true, write true";
      const whole = decisions.every(
        ({ principal, sourceHash }) => principal === "hook:audit/audit-3" && /^[0-9a-f]{64}$/.test(sourceHash),
      );
      return said === wanted && whole ? undefined : said;
    },
  },
  {
    name: "forges a record by what it names",
    tries: [`Deno.readTextFile("/x\\n{\\"permission\\":\\"read\\",\\"allowed\\":true}\\u001b[1A")`],
    sees: /NotCapable/,
    also: ({ conversation: { decisions } }) =>
      decisions.length === 1 && decisions.every(({ allowed, permission }) => !allowed && !permission.includes("\u001b"))
        ? undefined
        : JSON.stringify(decisions),
  },
  {
    name: "hides one act behind hundreds of others",
    grant: "read={{HERE}}",
    body: `for (let at = 0; at < 600; at += 50) await Promise.all(Array.from({ length: 50 }, () => Deno.stat("{{HERE}}/notes.txt"))); await Deno.readTextFile("{{SECRET}}").catch(() => {}); return { answer: "done" };`,
    also: ({ conversation: { decisions } }) => {
      const counted = decisions.reduce((sum, { leftOut }) => sum + leftOut + 1, 0);
      return counted === 601 ? undefined : `${counted} of 601 decisions are accounted for`;
    },
  },
  {
    name: "forges its receipt by what it says",
    body: `return { block: "ok\\u0000\\u001b[31m\\u202e" + "x".repeat(1e5) };`,
    also: ({ outcome }) => {
      const because = outcome?.receipts[0]?.because ?? "";
      return because.length < 5000 && !because.includes("\u001b") && because.includes("\\u{1b}")
        ? undefined
        : because.slice(0, 100);
    },
  },
  {
    name: "leaves no receipt when it is killed",
    body: `for (;;);`,
    also: ({ outcome }) =>
      outcome?.receipts.length === 1 && outcome.receipts[0]?.verdict === "block" ? undefined : JSON.stringify(outcome),
  },
];
