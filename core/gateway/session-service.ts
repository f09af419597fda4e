import { stat } from "node:fs/promises";
import type { ServiceImpl } from "@connectrpc/connect";
import { ApprovalScope } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import type { DaemonAdmin } from "../domain/admin.ts";
import { fail, failureToProto, type Result, unreachable } from "../domain/failure.ts";
import type { CallNews } from "../session/call-news.ts";
import type { LenderNews } from "../session/lent-models.ts";
import type { News } from "../session/news.ts";
import type { SessionRegistry } from "../session/session-registry.ts";
import { connectFailure, unwrap } from "./connect-failure.ts";
import { readFolder } from "./folder-path.ts";

const LIST_LIMIT = 100;

const SCOPES: ReadonlyMap<ApprovalScope, "session" | "always"> = new Map([
  [ApprovalScope.SESSION, "session"],
  [ApprovalScope.ALWAYS, "always"],
]);

/** Requests in, commands out; events back. Holds no rule of the house. */
export function sessionService(sessions: SessionRegistry, daemon: DaemonAdmin): ServiceImpl<typeof SessionService> {
  return {
    async openSession({ workspace, model }) {
      return { sessionId: unwrap(await sessions.open(unwrap(await readWorkspace(workspace)), model)) };
    },
    async listSessions({ limit }) {
      const rows = await sessions.list(limit === 0 ? LIST_LIMIT : limit);
      return {
        sessions: rows.map(({ failure, ...row }) =>
          failure === undefined ? row : { ...row, failure: failureToProto(failure) },
        ),
      };
    },
    async *subscribe({ sessionId, after, follow, canAnswer, attended }, { signal }) {
      const listener = { after, follow, canAnswer, attended };
      for await (const news of unwrap(await sessions.subscribe(sessionId, listener, signal))) yield wireNews(news);
    },
    async say({ sessionId, text, allow, yolo, model, variables }) {
      const said = unwrap(await sessions.say(sessionId, { text, allow, yolo, model }));
      const digests = new Map(variables.map(({ name, sha256 }) => [name, sha256]));
      return { ...said, staleVariables: [...daemon.staleVariables(digests)] };
    },
    async answer({ sessionId, approvalId, allowed, scope, content }) {
      unwrap(await sessions.answer(sessionId, approvalId, allowed, SCOPES.get(scope) ?? "once", content));
      return {};
    },
    async listTools({ workspace }, { signal }) {
      const tools = await sessions.tools(unwrap(await readWorkspace(workspace)), signal);
      return {
        tools: tools.map(({ name, description, input, category, rerun }) => ({
          ...{ name, description, input, category },
          rerunSafe: rerun === "safe",
        })),
      };
    },
    async *callTool({ sessionId, args = {}, ...options }, { signal }) {
      for await (const news of unwrap(await sessions.callTool(sessionId, { ...options, args }, signal))) {
        yield wireCallNews(news);
      }
    },
    async *lendModel(_request, { signal }) {
      for await (const news of sessions.lendModel(signal)) yield wireLenderNews(news);
    },
    async answerLent({ wishId, tokens, ...answer }) {
      unwrap(sessions.answerLent(wishId, { ...answer, tokens }));
      return {};
    },
    async *readArtifact({ sessionId, artifactId }) {
      const { artifact, pieces } = unwrap(await sessions.readArtifact(sessionId, artifactId));
      for await (const piece of pieces) yield { data: unwrap(piece), mimeType: artifact.mimeType };
    },
    async listSlashCommands({ workspace }, { signal }) {
      const commands = await sessions.commands(unwrap(await readWorkspace(workspace)), signal);
      return {
        commands: commands.map(({ name, description, category = "", takes = [] }) => ({
          ...{ name, description, category },
          arguments: [...takes],
        })),
      };
    },
    async runSlashCommand({ sessionId, command, ...words }, { signal }) {
      const { do: act, text, messages = [] } = unwrap(await sessions.runCommand(sessionId, command, words, signal));
      return { text, forModel: act === "say", messages: [...messages] };
    },
    async *watchOffers({ workspace }, { signal }) {
      unwrap(await readWorkspace(workspace));
      for await (const _ of sessions.watchOffers(signal)) yield {};
    },
    async interrupt({ sessionId }) {
      return { turnId: unwrap(await sessions.interrupt(sessionId)) };
    },
    async forkSession({ sessionId, atSeq }) {
      return { sessionId: unwrap(await sessions.fork(sessionId, atSeq)) };
    },
    async deleteSession({ sessionId }) {
      unwrap(await sessions.remove(sessionId));
      return {};
    },
  };
}

async function readWorkspace(written: string): Promise<Result<string>> {
  const folder = readFolder(written);
  if (!folder.ok) return folder;
  const found = await stat(folder.value).catch(() => undefined);
  if (found?.isDirectory() === true) return folder;
  const message = `the workspace ${folder.value} ${found === undefined ? "does not exist" : "is not a folder"}`;
  return fail("not_found", message, { hint: "create it, or choose another with --workspace" });
}

function wireCallNews(news: CallNews) {
  switch (news.kind) {
    case "accepted": {
      const { turnId, callId } = news;
      return { news: { case: "accepted" as const, value: { turnId, callId } } };
    }
    case "event":
      return { news: { case: "event" as const, value: news.event } };
    case "delta":
      return { news: { case: "delta" as const, value: news.delta } };
    case "fault":
      throw connectFailure(news.failure);
    default:
      return unreachable(news);
  }
}

function wireLenderNews(news: LenderNews) {
  if (news.kind === "lender") return { news: { case: "lenderId" as const, value: news.lenderId } };
  const { wishId, wanted } = news;
  const messages = wanted.messages.map(({ role, content }) => ({
    role,
    texts: content.flatMap((block) => (block.kind === "text" ? [block.text] : [])),
  }));
  const value = { wishId, system: wanted.system, messages, maxTokens: wanted.maxTokens };
  return { news: { case: "wish" as const, value } };
}

function wireNews(news: News) {
  switch (news.kind) {
    case "event":
      return { news: { case: "event" as const, value: news.event } };
    case "delta":
      return { news: { case: "delta" as const, value: news.delta } };
    case "caughtUp":
      return { news: { case: "caughtUp" as const, value: { seq: news.seq } } };
    case "fault":
      return { news: { case: "fault" as const, value: failureToProto(news.failure) } };
    default:
      return unreachable(news);
  }
}
