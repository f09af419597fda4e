import { expect, test } from "vitest";
import { fieldsOf } from "./answer-form.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name\u001b[31m" },
    age: { type: "integer", minimum: 1, default: 30 },
    agreed: { type: "boolean" },
    colours: { type: "array", items: { type: "string", enum: ["red", "blue"] } },
  },
  required: ["name"],
};

function said(name: string, typed: string): unknown {
  return fieldsOf(schema)
    .find((field) => field.name === name)
    ?.read(typed);
}

test("what is typed becomes a value of the field's kind, or why it is none", () => {
  expect(said("name", " Ann ")).toEqual({ value: "Ann" });
  expect(said("name", "")).toEqual({ wrong: "it must be filled in" });
  expect(said("age", "")).toEqual({ value: 30 });
  expect(said("age", "x")).toEqual({ wrong: "a whole number" });
  expect(said("age", "0")).toEqual({ wrong: "1 or more" });
  expect(said("agreed", "Y")).toEqual({ value: true });
  expect(said("agreed", "")).toEqual({ none: true });
  expect(said("colours", "red, blue")).toEqual({ value: ["red", "blue"] });
  expect(said("colours", "green")).toEqual({ wrong: "green is none of them" });
});

test("a question cannot draw on the terminal", () => {
  for (const { question } of fieldsOf(schema)) expect(question).not.toContain("\u001b");
});
