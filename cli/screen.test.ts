import { expect, test } from "vitest";
import { openScreen } from "./screen.ts";

const LINE = '  use it:     claw say \'call plugin_weather_count_words {"text":"one two three"}\' --yolo';

function openTerminal() {
  let shown = "";
  const output = { isTTY: true, columns: 40, write: (text: string | Uint8Array) => (shown += String(text)) };
  return { screen: openScreen(output, output, { NO_COLOR: "1" }), shown: () => shown };
}

test("a note is broken at the terminal's width, between words", () => {
  const { screen, shown } = openTerminal();
  screen.note("four words that are longer than forty columns are");
  expect(shown()).toBe("four words that are longer than forty\n  columns are\n");
});

test("a command to be copied is not broken, however narrow the terminal is", () => {
  const { screen, shown } = openTerminal();
  screen.noteWhole(LINE);
  expect(shown()).toBe(`${LINE}\n`);
});
