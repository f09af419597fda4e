/**
 * What packages of `node:` modules look for while they load, and guests do not have. The bundler puts it before them, and
 * it is taken away again behind them. Runs inside the isolate.
 */

const realm = globalThis as { Atomics?: unknown };

realm.Atomics = {};

export function takeStandInsAway(): void {
  delete realm.Atomics;
}
