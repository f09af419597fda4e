import { expect, test } from "vitest";
import { fillForm, readForm } from "./answer-form.ts";

const schemaOf = (field: object) => ({ type: "object", properties: { it: { ...field } } });

function fill(field: object, value: unknown, required: readonly string[] = []): unknown {
  const fields = readForm({ ...schemaOf(field), required: [...required] } as never);
  if (!fields.ok) return fields.failure.code;
  const filled = fillForm(fields.value, (value === undefined ? {} : { it: value }) as never);
  return filled.ok ? filled.value.it : filled.failure.message;
}

test.each([
  [{ type: "string" }, "a", "a"],
  [{ type: "string", minLength: 2 }, "a", 'the field "it" must have 2 to 8192 characters'],
  [{ type: "string", format: "email" }, "a", 'the field "it" must be of the form "email"'],
  [{ type: "string", format: "date" }, "2026-02-01", "2026-02-01"],
  [{ type: "integer", minimum: 1 }, 1.5, 'the field "it" must be a whole number'],
  [{ type: "integer", minimum: 1 }, 0, 'the field "it" must be 1 or more'],
  [{ type: "number", maximum: 1 }, 2, 'the field "it" must be 1 or less'],
  [{ type: "boolean" }, "true", 'the field "it" must be true or false'],
  [{ type: "string", enum: ["a", "b"] }, "c", 'the field "it" must be one of "a", "b"'],
  [{ type: "string", oneOf: [{ const: "a", title: "A" }] }, "a", "a"],
  [
    { type: "array", items: { type: "string", enum: ["a", "b"] }, maxItems: 1 },
    ["a", "b"],
    'the field "it" must be 0 to 1 of them',
  ],
  [{ type: "array", items: { anyOf: [{ const: "a", title: "A" }] } }, ["a"], ["a"]],
  [{ type: "string", default: "usual" }, undefined, "usual"],
  [{ type: "object" }, {}, "invalid"],
  [{ type: "array", items: { type: "object" } }, [], "invalid"],
])("%j takes %j as it is or says why not", (field, value, expected) => {
  expect(fill(field, value)).toEqual(expected);
});

test("what is required must be there, and what nobody asked for must not", () => {
  expect(fill({ type: "string" }, undefined, ["it"])).toBe('the field "it" is missing');
  expect(fillForm([], { stray: 1 })).toMatchObject({ ok: false, failure: { code: "invalid" } });
});

test.each(["password", "apiKey", "api_key", "access_token", "PIN", "client-secret", "card number"])(
  "a field that is called %s is never asked for",
  (name) => {
    const read = readForm({ type: "object", properties: { [name]: { type: "string" } } });
    expect(read).toMatchObject({ ok: false, failure: { code: "denied" } });
  },
);

test("nor is one whose title or form says that it is a password", () => {
  expect(fill({ type: "string", title: "Your password" }, "x")).toBe("denied");
  expect(fill({ type: "string", format: "password" }, "x")).toBe("denied");
  expect(fill({ type: "string", title: "Spinning wheels, tokens of love aside" }, "x")).toBe("x");
});
