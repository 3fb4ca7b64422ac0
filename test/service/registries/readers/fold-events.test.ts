import { expect, test } from "vitest";
import { foldEvents, type RegistryEvent } from "../../../../service/registries/readers/registry-events.ts";

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

const minted = { kind: "registered", agentId: 1n, wallet: A, uri: null } as const;
const announced = (uri: string | null): RegistryEvent => ({ kind: "announced", agentId: 1n, uri });
const setTo = (wallet: typeof A | null): RegistryEvent => ({ kind: "changed", agentId: 1n, wallet });

test.each<[string, readonly RegistryEvent[], typeof A | null, string | null]>([
  ["a plain registration", [minted, announced("u"), setTo(A)], A, "u"],
  [
    "an agent handed on within its mint",
    [minted, setTo(null), setTo(null), announced("u"), setTo(A)],
    null,
    "u",
  ],
  ["another wallet within its mint", [minted, setTo(B), announced("u"), setTo(A)], B, "u"],
  ["a change after the registration", [minted, announced("u"), setTo(A), setTo(B)], B, "u"],
  ["a registration ahead of its mint", [announced("u"), minted], A, "u"],
  ["one that is handed on after it", [announced("u"), minted, setTo(null)], null, "u"],
  [
    "a URI set within the mint",
    [minted, { kind: "changed", agentId: 1n, uri: "v" }, announced(null), setTo(A)],
    A,
    "v",
  ],
])("%s leaves the wallet and the URI of the contract", (_, events, wallet, uri) => {
  expect(foldEvents(events.map((event) => ({ block: 1, event })))).toEqual([
    { agentId: 1n, registeredBlock: 1, updatedBlock: 1, wallet, uri },
  ]);
});

test("a change of the wallet in a later block than the announcement counts", () => {
  expect(
    foldEvents([
      { block: 1, event: announced("u") },
      { block: 2, event: setTo(B) },
    ]),
  ).toEqual([{ agentId: 1n, registeredBlock: null, updatedBlock: 2, wallet: B, uri: "u" }]);
});
