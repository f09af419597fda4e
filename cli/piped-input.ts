import { fail, ok, type Result } from "./trouble.ts";

/** The longest text that is taken from a pipe. */
const TEXT_LIMIT_BYTES = 4 * 1024 * 1024;

/** Everything that is piped in, without the newline at its end. */
export async function readPiped(stdin: NodeJS.ReadStream): Promise<Result<string>> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > TEXT_LIMIT_BYTES) {
      return fail(
        "usage",
        `the piped text is longer than ${TEXT_LIMIT_BYTES} bytes`,
        "put it into a file and name the file",
      );
    }
    chunks.push(chunk);
  }
  return ok(
    Buffer.concat(chunks)
      .toString()
      .replace(/\r?\n$/, ""),
  );
}
