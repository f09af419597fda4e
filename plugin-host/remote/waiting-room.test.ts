import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { openWaitingRoom } from "./waiting-room.ts";

afterEach(() => vi.useRealTimers());

async function openDoor(onWord: (socket: Socket) => void) {
  const room = openWaitingRoom();
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    room.admit(socket, () => onWord(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const call = async () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    await once(socket, "connect");
    return socket;
  };
  return { call, close: () => new Promise((resolve) => server.close(resolve)) };
}

test("who says nothing for ten seconds is gone, and who spoke is not", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const heard = Promise.withResolvers<Socket>();
  const door = await openDoor((socket) => heard.resolve(socket));
  const [silent, speaking] = [await door.call(), await door.call()];
  const gone = once(silent, "close");
  speaking.write("a word");
  const met = await heard.promise;
  vi.advanceTimersByTime(10_000);
  await gone;
  expect(met.destroyed).toBe(false);
  expect(String(met.read())).toBe("a word");
  met.destroy();
  await door.close();
});

test("with hundreds who say nothing the oldest makes room, and one who speaks is met", async () => {
  const heard = Promise.withResolvers<Socket>();
  const door = await openDoor((socket) => heard.resolve(socket));
  const crowd: Socket[] = [await door.call()];
  const firstGone = once(crowd[0] as Socket, "close");
  for (let at = 0; at < 256; at += 1) crowd.push(await door.call());
  await firstGone;
  const honest = await door.call();
  honest.write("x");
  (await heard.promise).destroy();
  for (const socket of crowd) socket.destroy();
  await door.close();
});
