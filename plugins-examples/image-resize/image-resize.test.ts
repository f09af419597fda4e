import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bench, openBench } from "../../tests/kit/claw.ts";
import { buildRust, RUST_TIMEOUT_MS, rustMissing, testRust } from "../../tests/kit/rust-build.ts";

const CRATE = import.meta.dirname;
const RESIZE = "plugin_image-resize_resize";

/** A grey PNG. */
function picture(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.byteLength);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  const lines = deflateSync(Buffer.alloc((width + 1) * height, 0x40).map((byte, at) => (at % (width + 1) ? byte : 0)));
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", lines), chunk("IEND", Buffer.alloc(0))]);
}

describe.skipIf(rustMissing !== undefined)("the plugin in Rust", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
    const folder = join(bench.home, "image-resize");
    cpSync(join(CRATE, "plugin/plugin.json"), join(folder, "plugin.json"), { recursive: true });
    // What a person does who has their pictures elsewhere.
    const manifest = readFileSync(join(folder, "plugin.json"), "utf8");
    writeFileSync(join(folder, "plugin.json"), manifest.replace("write=/tmp/pictures", `write=${bench.workspace}`));
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "bin/image-resize"), await buildRust(CRATE, "image-resize"), { mode: 0o755 });
    expect(await bench.claw("plugin", "install", folder, "--yes")).toMatchObject({ code: 0 });
  }, RUST_TIMEOUT_MS);
  afterAll(() => bench.close());

  const resize = (args: object) =>
    bench.claw("say", `call ${RESIZE} ${JSON.stringify(args)}`, "--allow", RESIZE).then(({ stdout }) => stdout);

  test("makes a picture of the workspace smaller, in a conversation", async () => {
    writeFileSync(join(bench.workspace, "big.png"), picture(640, 320));
    const said = await resize({ from: "big.png", to: "small.png", longest_side: 64 });
    expect(said).toContain("wrote small.png: 64 x 32 pixels instead of 640 x 320");
    const small = readFileSync(join(bench.workspace, "small.png"));
    expect([small.readUInt32BE(16), small.readUInt32BE(20)]).toEqual([64, 32]);
  });

  test("refuses what claims to be huge, and what is not in the workspace", async () => {
    writeFileSync(join(bench.workspace, "bomb.png"), picture(8, 8).fill(0x7f, 16, 24));
    expect(await resize({ from: "bomb.png", to: "b.png", longest_side: 64 })).toMatch(/bomb\.png (says that|is no)/);
    expect(await resize({ from: "/etc/passwd", to: "b.png", longest_side: 64 })).toContain("is not in the workspace");
    expect(await resize({ from: "big.png", to: "small.png", longest_side: 64 })).toContain("is there already");
  });

  test(
    "passes its own tests",
    async () => {
      expect(await testRust(CRATE, "--locked")).toContain("0 failed");
    },
    RUST_TIMEOUT_MS,
  );
});
