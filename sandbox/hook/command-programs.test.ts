import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findNeeded } from "./command-programs.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "clawd-programs-")));
  await mkdir(join(folder, "hooks"));
  await writeFile(join(folder, "hooks/it is.py"), "");
  await writeFile(join(folder, "guard.py"), "");
  await writeFile(join(folder, "run.sh"), "#!/bin/sh\n");
  await chmod(join(folder, "run.sh"), 0o755);
});
afterAll(() => rm(folder, { recursive: true }));

const find = (line: string) =>
  findNeeded(line, folder, { CLAUDE_PROJECT_DIR: folder, HOME: folder }, process.env.PATH ?? "");

test.each([
  ["sh guard.py", ["guard.py"]],
  ["./run.sh --flag", ["run.sh"]],
  ['"$CLAUDE_PROJECT_DIR"/run.sh', ["run.sh"]],
  [`\${CLAUDE_PROJECT_DIR}/run.sh`, ["run.sh"]],
  ["~/run.sh", ["run.sh"]],
  ["sh 'hooks/it is.py'", ["hooks/it is.py"]],
  ["sh hooks/it\\ is.py", ["hooks/it is.py"]],
  ["sh -eu guard.py arg.py", ["guard.py"]],
  ["sh -o errexit guard.py", ["guard.py"]],
  ["env A=1 sh guard.py", ["guard.py"]],
  ["A=1 B='x y' sh guard.py", ["guard.py"]],
  ["exec sh guard.py", ["guard.py"]],
  ["if sh guard.py; then ./run.sh; fi", ["guard.py", "run.sh"]],
  ["cat | sh guard.py > out.txt 2>&1", ["guard.py"]],
  [". ./run.sh", ["run.sh"]],
  ["sh -c 'missing.py'", []],
  ["sh -s < missing.py", []],
  ["cd hooks && sh 'it is.py'", []],
  ['sh "$SOMETHING/x.py"', []],
  ["sh $(echo x)", []],
  ["$PROGRAM x", []],
  ["echo missing.py # sh missing.py", []],
  ["sh -s <<END\nmissing.py\nEND", []],
  ["x=$(sh missing.py | tail -n 1) ./run.sh", ["run.sh"]],
  ['echo "$(sh missing.py)" $((1 + 2)) && ./run.sh', ["run.sh"]],
  ['case "$1" in a) no-such;; b) other;; esac', []],
  ["f() { no-such; }; f", []],
  ["./run.sh; [[ a && no-such ]]", ["run.sh"]],
  ["list=(no such)", []],
  ["((n = 1))", []],
  ["PATH=/opt/x/bin:$PATH; no-such", []],
  ["command -v no-such >/dev/null || exit 0", []],
  ["for f in a b; do ./run.sh $f 2>/dev/null; done", ["run.sh"]],
  ["while read -r line; do sh guard.py 1>&2; done < input", ["guard.py"]],
  ["true", []],
])("%s needs %j", async (line, files) => {
  const needed = await find(line);
  if (!needed.ok) throw new Error(needed.failure.message);
  const own = needed.value
    .filter(({ path }) => path.startsWith(folder))
    .map(({ path }) => path.slice(folder.length + 1));
  expect(own).toEqual(files);
});

test.each([
  ["no-such-interpreter x.py", "no program no-such-interpreter"],
  ["sh missing.py", "no script missing.py"],
  ["sh hooks", "no script hooks"],
  ["./missing.sh", "no program ./missing.sh"],
  ["./guard.py", "no program ./guard.py"],
  ['"$CLAUDE_PROJECT_DIR"/missing.sh', "no program"],
  ["true && sh missing.py", "no script missing.py"],
  [". ./missing.sh", "no script ./missing.sh"],
  ["sh guard.py; no-such-program", "no program no-such-program"],
  ["sh 'guard.py", "a quote that does not end"],
])("%s cannot be started: %s", async (line, message) => {
  expect(await find(line)).toMatchObject({ ok: false, failure: { message: expect.stringContaining(message) } });
});
