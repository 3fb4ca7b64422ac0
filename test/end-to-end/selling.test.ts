import { describe } from "vitest";
import { describeSoldCalls } from "./selling-calls.ts";
import { describeClients, describeManifest } from "./selling-discovery.ts";
import { describeSoldKeys } from "./selling-keys.ts";
import { describeSoldOutputs } from "./selling-outputs.ts";
import { useShop } from "./shop.ts";

const shop = useShop();

describe("a wallet without a key pays per call", () => describeSoldCalls(shop));
describe("a client that finds the service", () => describeClients(shop));
// Keys come before the manifest, which buys one as well.
describe("keys that a wallet buys", () => describeSoldKeys(shop));
describe("every price that the manifest states", () => describeManifest(shop));
describe("an output that a wallet pays for", () => describeSoldOutputs(shop));
