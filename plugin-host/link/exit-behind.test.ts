import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { buildWall } from "./connect-wall.ts";
import { exitBehind } from "./exit-behind.ts";

const EXIT = { code: 9, signal: null };

test.each([Code.Aborted, Code.InvalidArgument, Code.FailedPrecondition, Code.NotFound])(
  "an error of code %i is the plugin's own word, and no sign of its death",
  async (code) => {
    const { translate } = await buildWall();
    const error = translate(new ConnectError("the lake is dry", code));
    expect(error).toMatchObject({ kind: "refused", message: "the lake is dry" });
    expect(await exitBehind(error, Promise.resolve(EXIT))).toBeUndefined();
  },
);

test.each([Code.Unavailable, Code.Internal, Code.Unknown, Code.Canceled])(
  "an error of code %i may be that of a dying process, whose end is waited for",
  async (code) => {
    const { translate } = await buildWall();
    const error = translate(new ConnectError("socket closed", code));
    expect(error.kind).toBe("broken");
    expect(await exitBehind(error, Promise.resolve(EXIT))).toEqual(EXIT);
  },
);
