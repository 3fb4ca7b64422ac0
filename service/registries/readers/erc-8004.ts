import { type DecodeEventLogReturnType, toEventSelector } from "viem";
import { identityRegistryAbi } from "../../chain/abi/identity-registry.ts";
import { decodeEvent } from "../../chain/bounded-abi.ts";
import { type RegistryDecoder, type RegistryEvent, registryUri, registryWallet } from "./registry-events.ts";

const READ = new Set(["Registered", "URIUpdated", "MetadataSet", "Transfer"]);
const WALLET_KEY = "agentWallet";
/** 20 packed bytes in hexadecimal digits, with 0x. */
const PACKED_ADDRESS_CHARACTERS = 42;
const NOBODY = /^0x0{40}$/;

/**
 * An identity registry of ERC-8004. The first owner is the wallet from the mint until agentWallet says another; 20 packed bytes
 * set it, none clear it, and so does a transfer of the agent. A mint calls its owner back, who may do all of these before
 * Registered is logged; the agentWallet log after that repeats the mint.
 */
export const erc8004Decoder: RegistryDecoder = {
  topics: identityRegistryAbi.flatMap((item) =>
    item.type === "event" && READ.has(item.name) ? [toEventSelector(item)] : [],
  ),
  decode: ({ topics, data }) => {
    const event = decodeEvent(identityRegistryAbi, { topics, data });
    return event === null ? null : meaningOf(event);
  },
};

function meaningOf(event: DecodeEventLogReturnType<typeof identityRegistryAbi>): RegistryEvent | null {
  switch (event.eventName) {
    case "Registered": {
      const { agentId, agentURI } = event.args;
      return { kind: "announced", agentId, uri: registryUri(agentURI) };
    }
    case "URIUpdated":
      return { kind: "changed", agentId: event.args.agentId, uri: registryUri(event.args.newURI) };
    case "MetadataSet": {
      const { agentId, metadataKey, metadataValue } = event.args;
      if (metadataKey !== WALLET_KEY) return null;
      if (metadataValue === "0x") return { kind: "changed", agentId, wallet: null };
      if (metadataValue.length !== PACKED_ADDRESS_CHARACTERS) return null;
      return { kind: "changed", agentId, wallet: registryWallet(metadataValue) };
    }
    case "Transfer": {
      const { from, to, id: agentId } = event.args;
      if (!NOBODY.test(from)) return { kind: "changed", agentId, wallet: null };
      return { kind: "registered", agentId, wallet: registryWallet(to), uri: null };
    }
    default:
      return null;
  }
}
