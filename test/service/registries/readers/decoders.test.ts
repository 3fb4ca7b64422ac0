import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  type Hex,
  pad,
  toEventSelector,
  zeroAddress,
} from "viem";
import { describe, expect, test } from "vitest";
import { identityRegistryAbi } from "../../../../service/chain/abi/identity-registry.ts";
import { erc8004Decoder } from "../../../../service/registries/readers/erc-8004.ts";
import { olasServiceRegistryL2Decoder } from "../../../../service/registries/readers/olas-service-registry-l2.ts";
import { virtualsAgentFactoryDecoder } from "../../../../service/registries/readers/virtuals-agent-factory.ts";

const WALLET = getAddress(`0x${"ab".repeat(20)}`);
const OTHER = `0x${"cd".repeat(20)}` as const;
const LOWER = WALLET.toLowerCase();
const HASH = `0x${"12".repeat(32)}` as const;

type Log = { readonly topics: readonly Hex[]; readonly data: Hex };

describe("an ERC-8004 identity registry", () => {
  const text = (value: string) => encodeAbiParameters([{ type: "string" }], [value]);
  const registered = (uri: string): Log => ({
    topics: topicsOf("Registered", { agentId: 7n, owner: WALLET }),
    data: text(uri),
  });
  const announced = { kind: "announced", agentId: 7n };
  const updated = (uri: string): Log => ({
    topics: topicsOf("URIUpdated", { agentId: 7n, updatedBy: WALLET }),
    data: text(uri),
  });
  const metadata = (key: string, value: Hex): Log => ({
    topics: topicsOf("MetadataSet", { agentId: 7n, indexedMetadataKey: key }),
    data: encodeAbiParameters([{ type: "string" }, { type: "bytes" }], [key, value]),
  });
  const transfer = (from: Hex): Log => ({
    topics: topicsOf("Transfer", { from, to: OTHER, id: 7n }),
    data: "0x",
  });
  const changed = { kind: "changed", agentId: 7n };
  const uri = "https://a.example/agent.json";

  test.each<[string, Log, unknown]>([
    ["a registration", registered(uri), { ...announced, uri }],
    ["one without a URI", registered(""), { ...announced, uri: null }],
    ["one whose URI holds a NUL", registered("a\0b"), { ...announced, uri: null }],
    ["one whose URI has no end", registered("x".repeat(100_001)), { ...announced, uri: null }],
    ["a new URI", updated(uri), { ...changed, uri }],
    ["an emptied URI", updated(""), { ...changed, uri: null }],
    ["a wallet of 20 packed bytes", metadata("agentWallet", OTHER), { ...changed, wallet: OTHER }],
    ["a cleared wallet", metadata("agentWallet", "0x"), { ...changed, wallet: null }],
    ["the zero address as wallet", metadata("agentWallet", zeroAddress), { ...changed, wallet: null }],
    ["a wallet of 32 bytes", metadata("agentWallet", pad(OTHER)), null],
    ["another key", metadata("name", OTHER), null],
    ["a transfer", transfer(WALLET), { ...changed, wallet: null }],
    ["a minting", transfer(zeroAddress), { kind: "registered", agentId: 7n, wallet: OTHER, uri: null }],
    ["an event that is none of these", { topics: [HASH], data: "0x" }, null],
    ["no topics", { topics: [], data: "0x" }, null],
    ["too few topics", { topics: registered(uri).topics.slice(0, 2), data: text(uri) }, null],
    ["data cut short", { ...registered(uri), data: text(uri).slice(0, 100) as Hex }, null],
    ["no data", { ...registered(uri), data: "0x" }, null],
  ])("%s", (_, log, event) => {
    expect(erc8004Decoder.decode(log)).toEqual(event);
  });

  test("is asked for these events alone", () => {
    expect(erc8004Decoder.topics.toSorted()).toEqual(
      [
        "0xca52e62c367d81bb2e328eb795f7c7ba24afb478408a26c0e201d155c449bc4a",
        "0x3a2c7fffc2cba7582c690e3b82c453ea02a308326a98a3ad7576c606336409fb",
        "0x2c149ed548c6d2993cd73efe187df6eccabe4538091b33adbd25fafdb8a1468b",
        toEventSelector("Transfer(address,address,uint256)"),
      ].toSorted(),
    );
  });
});

describe("Olas' service registry", () => {
  const create = toEventSelector("CreateService(uint256,bytes32)");
  const update = toEventSelector("UpdateService(uint256,bytes32)");
  const deploy = toEventSelector("CreateMultisigWithAgents(uint256,address)");
  const seven = pad("0x07");
  const uri = `ipfs://f01701220${"12".repeat(32)}`;

  test.each<[string, Log, unknown]>([
    [
      "a service",
      { topics: [create, seven], data: HASH },
      { kind: "registered", agentId: 7n, wallet: null, uri },
    ],
    ["another configuration", { topics: [update, seven], data: HASH }, { kind: "changed", agentId: 7n, uri }],
    [
      "a multisig",
      { topics: [deploy, seven, pad(WALLET)], data: "0x" },
      { kind: "changed", agentId: 7n, wallet: LOWER },
    ],
    ["the zero address as multisig", { topics: [deploy, seven, pad(zeroAddress)], data: "0x" }, null],
    ["a service without an id", { topics: [create], data: HASH }, null],
    ["a service without a configuration", { topics: [create, seven], data: "0x" }, null],
    ["a configuration cut short", { topics: [update, seven], data: "0x1212" }, null],
    ["a multisig that is not indexed", { topics: [deploy, seven], data: pad(WALLET) }, null],
    ["an event that is none of these", { topics: [HASH, seven], data: HASH }, null],
    ["no topics", { topics: [], data: HASH }, null],
  ])("%s", (_, log, event) => {
    expect(olasServiceRegistryL2Decoder.decode(log)).toEqual(event);
  });

  test("is asked for these events alone", () => {
    expect(olasServiceRegistryL2Decoder.topics).toEqual([create, update, deploy]);
    // The event that Safes 1.3.0 and 1.4.1 write of themselves.
    expect(olasServiceRegistryL2Decoder.madeTopic).toBe(
      "0x141df868a6331af528e38c83b7aa03edc19be66e37ae67f9285bf4f8e3c6a1a8",
    );
  });
});

describe("an agent factory of Virtuals", () => {
  const born = toEventSelector("NewPersona(uint256,address,address,address,address,address)");
  const words = (tba: Address) =>
    concatHex([pad("0x07"), pad(OTHER), pad(OTHER), pad(tba), pad(OTHER), pad(OTHER)]);

  test.each<[string, Log, unknown]>([
    [
      "an agent with its bound account",
      { topics: [born], data: words(WALLET) },
      { kind: "registered", agentId: 7n, wallet: LOWER, uri: null },
    ],
    [
      "one without an account",
      { topics: [born], data: words(zeroAddress) },
      { kind: "registered", agentId: 7n, wallet: null, uri: null },
    ],
    ["data cut short", { topics: [born], data: words(WALLET).slice(0, 322) as Hex }, null],
    ["an event that is none of these", { topics: [HASH], data: words(WALLET) }, null],
    ["no topics", { topics: [], data: words(WALLET) }, null],
  ])("%s", (_, log, event) => {
    expect(virtualsAgentFactoryDecoder.decode(log)).toEqual(event);
  });

  test("is asked for its one event", () => {
    expect(virtualsAgentFactoryDecoder.topics).toEqual([
      "0xf9d151d23a5253296eb20ab40959cf48828ea2732d337416716e302ed83ca658",
    ]);
  });
});

function topicsOf(eventName: string, args: object): readonly Hex[] {
  // Of the events above each has the arguments that are given with its name.
  return encodeEventTopics({ abi: identityRegistryAbi, eventName, args } as never) as readonly Hex[];
}
