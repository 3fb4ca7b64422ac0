import { expect, test } from "vitest";
import { foldEvents } from "../../../../service/scan/registries/fold-events.ts";
import type { RegistryEvent } from "../../../../service/scan/registries/registry-event.ts";

const A = `0x${"aa".repeat(20)}` as const;
const B = `0x${"bb".repeat(20)}` as const;

const registered = (agentId: bigint, wallet: typeof A | null = null): RegistryEvent => ({
  kind: "registered",
  agentId,
  wallet,
  uri: "ipfs://one",
});

test("the newest change of each member counts, and one that is not named stays open", () => {
  expect(
    foldEvents([
      { block: 1, event: registered(2n) },
      { block: 2, event: { kind: "changed", agentId: 2n, wallet: A } },
      { block: 3, event: { kind: "changed", agentId: 1n, uri: "ipfs://two" } },
      { block: 4, event: { kind: "changed", agentId: 2n, wallet: B } },
      { block: 5, event: { kind: "changed", agentId: 1n, wallet: null } },
    ]),
  ).toEqual([
    { agentId: 1n, registeredBlock: null, updatedBlock: 5, uri: "ipfs://two", wallet: null },
    { agentId: 2n, registeredBlock: 1, updatedBlock: 4, uri: "ipfs://one", wallet: B },
  ]);
});

test("an agent is registered once, and what was said of it before is not of it", () => {
  expect(
    foldEvents([
      { block: 1, event: { kind: "changed", agentId: 1n, wallet: B } },
      { block: 2, event: registered(1n, A) },
      { block: 3, event: registered(1n, B) },
    ]),
  ).toEqual([{ agentId: 1n, registeredBlock: 2, updatedBlock: 2, uri: "ipfs://one", wallet: A }]);
});
