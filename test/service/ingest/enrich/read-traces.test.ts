import type { Hex } from "viem";
import { expect, test } from "vitest";
import { NodeFailure, type NodeFailureKind } from "../../../../service/chain/node/failure.ts";
import { createTraceReader } from "../../../../service/ingest/enrich/read-traces.ts";

const HASH: Hex = `0x${"5e".repeat(32)}`;
const TO = "0xfefefefefefefefefefefefefefefefefefefefe";
const bundle = { block: 7, to: TO, input: "0x12" } as const;
const trace = { type: "CALL", from: TO, to: TO, value: "0x0", input: "0x12" };
const header = { number: 7, hash: HASH, timestamp: 0 };

function readerOf(answer: () => Promise<unknown>, hasHeader = true) {
  const missing: string[] = [];
  let asked = 0;
  const read = createTraceReader(
    {
      trace: () => {
        asked += 1;
        return answer();
      },
      header: async () => {
        if (!hasHeader) throw new NodeFailure("unreachable", "no node");
        return header;
      },
    },
    ({ kind }) => missing.push(kind),
  );
  return { read: () => read(HASH, bundle), missing, asked: () => asked };
}

const failing = (kind: NodeFailureKind) => () => Promise.reject(new NodeFailure(kind, "a trace"));

test("returns the frames of the transaction, and nothing of another one", async () => {
  expect(await readerOf(async () => trace).read()).toHaveLength(1);
  expect(await readerOf(async () => ({ ...trace, input: "0x13" })).read()).toBe(null);
  expect(await readerOf(async () => ({ ...trace, to: HASH })).read()).toBe(null);
});

test("asks a node without the method once", async () => {
  const { read, missing, asked } = readerOf(failing("method_missing"));
  expect([await read(), await read()]).toEqual([null, null]);
  expect([missing, asked()]).toEqual([["method_missing"], 1]);
});

test.each<NodeFailureKind>(["timeout", "too_many_results", "refused", "garbage", "node_behind"])(
  "leaves a trace unknown after a failure of kind %s",
  async (kind) => {
    expect(await readerOf(failing(kind)).read()).toBe(null);
  },
);

test.each<NodeFailureKind>(["unreachable", "rate_limited"])(
  "leaves a trace unknown after the third pass that fails alike: %s",
  async (kind) => {
    const { read } = readerOf(failing(kind));
    await expect(read()).rejects.toMatchObject({ kind });
    await expect(read()).rejects.toMatchObject({ kind });
    expect(await read()).toBe(null);
  },
);

test("counts no failure while the node answers nothing", async () => {
  const { read } = readerOf(failing("unreachable"), false);
  for (let pass = 0; pass < 5; pass += 1) await expect(read()).rejects.toThrow("no node");
});
