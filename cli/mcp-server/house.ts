import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Connection } from "../connection.ts";
import type { Result } from "../trouble.ts";

/** The daemon behind this server. One that went away is started again by the next question. */
export type House = {
  /** Asks for what may be asked twice. */
  read<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
  ): Promise<Result<MessageShape<O>>>;
  /** Asks once: nobody knows what a daemon did that went away before it answered. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
  ): Promise<Result<MessageShape<O>>>;
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageInitShape<I>,
    signal: AbortSignal,
  ): AsyncGenerator<Result<MessageShape<O>>, void, undefined>;
  close(): void;
};

/** @param dial connects to the daemon and starts it when it is missing */
export function openHouse(dial: () => Promise<Result<Connection>>): House {
  let current: Promise<Result<Connection>> | undefined;

  /** Whoever comes while it is dialled waits for the same connection. */
  async function connection(): Promise<Result<Connection>> {
    current ??= dial();
    const dialled = await current;
    if (!dialled.ok) current = undefined;
    return dialled;
  }
  function letGo(lost: Connection): void {
    lost.close();
    current = undefined;
  }

  const house: House = {
    async read(method, input) {
      const first = await house.call(method, input);
      return first.ok || first.trouble.kind !== "unreachable" ? first : house.call(method, input);
    },
    async call(method, input) {
      const dialled = await connection();
      if (!dialled.ok) return dialled;
      const answer = await dialled.value.call(method, input);
      if (!answer.ok && answer.trouble.kind === "unreachable") letGo(dialled.value);
      return answer;
    },
    async *stream(method, input, signal) {
      const dialled = await connection();
      if (!dialled.ok) {
        yield dialled;
        return;
      }
      for await (const item of dialled.value.stream(method, input, signal)) {
        if (!item.ok && item.trouble.kind === "unreachable") letGo(dialled.value);
        yield item;
      }
    },
    close() {
      void current?.then((dialled) => (dialled.ok ? dialled.value.close() : undefined));
    },
  };
  return house;
}
