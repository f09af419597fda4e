import { expect, test } from "vitest";
import { type Grant, parsePermission, printPermission } from "../../sandbox/permission/permission.ts";
import { cutGrant } from "./allowance.ts";

const FOLDER = "/agent/plugins/weather";

function grant(...words: string[]): Grant {
  const allow = words.flatMap((one) => {
    const parsed = parsePermission(one, FOLDER);
    if (!parsed.ok) throw new Error(parsed.message);
    return parsed.value;
  });
  return { allow, deny: [] };
}

test.each([
  [["net=api.example.com:443"], ["net"], ["net=api.example.com:443"], []],
  [["net"], ["net=api.example.com:443"], ["net=api.example.com:443"], []],
  [["net=api.example.com:443"], ["net=other.example.com"], [], ["net=api.example.com:443"]],
  [["net"], [], [], ["net"]],
  [["read=/data"], ["read=/data/public"], ["read=/data/public"], []],
  [["read=/data/public"], ["read=/data"], ["read=/data/public"], []],
  [["write=./cache"], [], ["write=/agent/plugins/weather/cache"], []],
  [["write=/agent"], [], [], ["write=/agent"]],
  [["env=HTTP_TIMEOUT"], ["env=HTTP_TIMEOUT"], ["env=HTTP_TIMEOUT"], []],
  [["run"], ["run=git"], ["run=git"], []],
  [["memory=read", "tool=read"], [], ["memory=read", "tool=read"], []],
])("of %j granted and %j allowed %j is left, and %j refused", (granted, allowed, left, refused) => {
  const cut = cutGrant(grant(...granted), grant(...allowed), FOLDER);
  expect(cut.granted.allow.map(printPermission)).toEqual(left);
  expect(cut.refused).toEqual(refused);
});

test("what the owner denies is denied, whatever is granted and allowed", () => {
  const denied = grant("net=10.0.0.1").allow;
  expect(cutGrant(grant("net"), { allow: grant("net").allow, deny: denied }, FOLDER).granted.deny).toEqual(denied);
});
