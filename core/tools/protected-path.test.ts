import { expect, test } from "vitest";
import { protectedPath } from "./protected-path.ts";

const WORKSPACE = "/home/ann/work";
const DATA = ["/home/ann/.clawd"];
const judge = (path: string, workspace = WORKSPACE) => protectedPath(path, workspace, DATA);

test.each([
  "/home/ann/work/.git",
  "/home/ann/work/.git/hooks/pre-commit",
  "/home/ann/work/.git/config",
  "/home/ann/work/deep/er/.git/modules/x/config",
  "/home/ann/work/.GIT/Config",
  "/home/ann/.bashrc",
  "/home/ann/work/sub/.zshenv",
  "/home/ann/.ssh/authorized_keys",
  "/home/ann/.aws/credentials",
  "/home/ann/.config/gcloud/x",
  "/home/ann/.config/fish/config.fish",
  "/home/ann/work/.mcp.json",
  "/home/ann/work/.claude/settings.json",
  "/home/ann/work/.vscode/tasks.json",
  "/home/ann/work/.idea/workspace.xml",
  "/home/ann/.clawd",
  "/home/ann/.clawd/hooks/x.ts",
])("%s is never written", (path) => {
  expect(judge(path)).toEqual(expect.any(String));
});

test.each([
  "/home/ann/work",
  "/home/ann/work/notes.md",
  "/home/ann/work/.github/workflows/x.yml",
  "/home/ann/work/.gitignore",
  "/home/ann/work/git/config",
  "/home/ann/work/.config/app.toml",
  "/home/ann/.clawd-notes/x",
  "/home/ann/work/.ssh-notes",
])("%s may be written", (path) => {
  expect(judge(path)).toBeUndefined();
});

test("a workspace inside an agent's folder can be worked in, one among keys cannot", () => {
  expect(judge("/home/ann/.claude/worktrees/a/src/x.ts", "/home/ann/.claude/worktrees/a")).toBeUndefined();
  expect(judge("/home/ann/.claude/worktrees/a/.claude/x", "/home/ann/.claude/worktrees/a")).toBeDefined();
  expect(judge("/home/ann/.claude/settings.json")).toBeDefined();
  expect(judge("/home/ann/.ssh/x/notes", "/home/ann/.ssh/x")).toBeDefined();
  expect(judge("/work/x", "/")).toBeUndefined();
});
