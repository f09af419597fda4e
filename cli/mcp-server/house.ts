import type { Connection } from "../connection.ts";
import type { Result } from "../trouble.ts";

/**
 * The daemon behind this server: a connection that, once it is lost, is made again by the next question. `call` asks once, since
 * nobody knows what a daemon did that went away before it answered.
 */
export type House = Connection & {
  /** Asks for what may be asked twice. */
  readonly read: Connection["call"];
  /** Whether a daemon is there to be asked; starts none. */
  isThere(): Promise<boolean>;
};

/**
 * @param dial connects to the daemon and starts it when it is missing
 * @param reach connects to one that runs
 */
export function openHouse(dial: () => Promise<Result<Connection>>, reach: () => Promise<Result<Connection>>): House {
  let current: Promise<Result<Connection>> | undefined;

  /** Whoever comes while it is dialled waits for the same connection. */
  function dialling(): Promise<Result<Connection>> {
    current ??= dial();
    return current;
  }
  /** Several may notice that it is lost; by then another one may have taken its place. */
  function letGo(lost: Promise<Result<Connection>>): void {
    if (current === lost) current = undefined;
    hangUp(lost);
  }

  const house: House = {
    async read(method, input, more) {
      const first = await house.call(method, input, more);
      return first.ok || first.trouble.kind !== "unreachable" ? first : house.call(method, input, more);
    },
    async call(method, input, more) {
      const line = dialling();
      const dialled = await line;
      if (!dialled.ok) {
        letGo(line);
        return dialled;
      }
      const answer = await dialled.value.call(method, input, more);
      if (!answer.ok && answer.trouble.kind === "unreachable") letGo(line);
      return answer;
    },
    async *stream(method, input, signal) {
      const line = dialling();
      const dialled = await line;
      if (!dialled.ok) {
        letGo(line);
        yield dialled;
        return;
      }
      for await (const item of dialled.value.stream(method, input, signal)) {
        if (!item.ok && item.trouble.kind === "unreachable") letGo(line);
        yield item;
      }
    },
    async isThere() {
      if (current !== undefined) return (await current).ok;
      const reached = await reach();
      if (!reached.ok) return false;
      // Not before: who asks for something meanwhile wants a daemon to be started.
      if (current === undefined) current = Promise.resolve(reached);
      else reached.value.close();
      return true;
    },
    close() {
      if (current !== undefined) hangUp(current);
    },
  };
  return house;
}

function hangUp(line: Promise<Result<Connection>>): void {
  void line.then((dialled) => (dialled.ok ? dialled.value.close() : undefined));
}
