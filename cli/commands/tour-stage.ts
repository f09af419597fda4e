import { DaemonService, type StatusResponse } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Context } from "../command.ts";
import type { Result } from "../trouble.ts";

/** What a step has to work with. Its commands run on the tour's own data folder. */
export type Tour = {
  readonly context: Context;
  readonly home: string;
  /** Prints a command line as a person would type it. */
  showCommand(argv: readonly string[]): void;
  /** Prints a command line and runs it; true when it exits with 0. */
  command(argv: readonly string[]): Promise<boolean>;
  tell(line: string): void;
};

/** What the tour's daemon says of itself; starts it when it is missing. */
export async function askStatus(context: Context): Promise<Result<StatusResponse>> {
  const dialled = await context.dial();
  if (!dialled.ok) return dialled;
  try {
    return await dialled.value.call(DaemonService.method.status, {});
  } finally {
    dialled.value.close();
  }
}
