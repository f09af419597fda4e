import { fail, ok, type Result } from "../../domain/failure.ts";
import { splitFolders, type WalkOutcome, type WalkRequest } from "./folder-walk.ts";
import type { WatchEars } from "./folder-watch.ts";

/** Runs a task of the memory's worker threads by its name. */
export type RunTask = <T>(
  task: string,
  request: unknown,
  line: "front" | "back",
  signal?: AbortSignal,
) => Promise<Result<T>>;

/** What a watcher wants to know of folders, found out in a worker thread. */
export function watchTasks(run: RunTask): Pick<WatchEars, "folders" | "stamp"> {
  return {
    async folders(root, signal) {
      const request: WalkRequest = { root };
      const walked = await run<WalkOutcome>("walk", request, "back", signal);
      if (!walked.ok) return walked;
      if (walked.value.status === "walked") return ok(splitFolders(walked.value.folders));
      const reason = walked.value.status === "failed" ? walked.value.reason : "there are too many files in it";
      return fail("unavailable", reason, { hint: "check its permissions" });
    },
    stamp: (root, signal) => run<string>("stamp", root, "back", signal),
  };
}
