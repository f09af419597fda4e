// A tool that streams: whoever waits sees each piece as it comes, and the model reads all of them at the end. Try it with:
//   claw plugin install plugins-examples/stream
import { setImmediate as breathe } from "node:timers/promises";
import { servePlugin, tool } from "clawd/plugin";

const LINE = 20;

const primes = tool<{ upTo: number }>({
  name: "primes",
  // A tool that yields streams its output. When nobody reads, it stands still; when it is cancelled, it is ended.
  run: async function* ({ upTo }, { signal }) {
    const composite = new Uint8Array(upTo + 1);
    let line: number[] = [];
    for (let number = 2; number <= upTo && !signal.aborted; number++) {
      if (composite[number] === 1) continue;
      for (let multiple = number * number; multiple <= upTo; multiple += number) composite[multiple] = 1;
      if (line.push(number) < LINE) continue;
      yield `${line.join(" ")}\n`;
      line = [];
      // Lets other calls, and a cancel of this one, be heard.
      await breathe();
    }
    yield line.join(" ");
  },
});

await servePlugin({ name: "stream", version: "1.0.0", tools: [primes] });
