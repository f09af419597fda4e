// A whole plugin. plugin.json beside it says what the tools are for; try it with:
//   claw plugin install plugins-examples/hello
import { setTimeout as pause } from "node:timers/promises";
import { servePlugin, tool } from "clawd/plugin";

const greet = tool<{ name: string }>({
  name: "greet",
  run: async ({ name }, { progress, host }) => {
    progress(`looking up how to greet ${name}`);
    await host.log(`greeting ${name}`);
    return `Hello, ${name}! This greeting comes from a process of its own.`;
  },
});

const count = tool<{ to: number; pauseMs?: number }>({
  name: "count",
  run: async ({ to, pauseMs = 0 }, { progress, signal }) => {
    for (let number = 1; number <= to; number++) {
      progress(`${number} of ${to}`);
      // The signal ends the pause at once when the call is cancelled.
      await pause(pauseMs, undefined, { signal });
    }
    return `Counted to ${to}.`;
  },
});

await servePlugin({ name: "hello", version: "1.0.0", tools: [greet, count] });
