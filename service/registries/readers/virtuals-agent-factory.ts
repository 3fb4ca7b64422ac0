import { parseAbi, toEventSelector } from "viem";
import { decodeEvent } from "../../chain/bounded-abi.ts";
import { type RegistryDecoder, registryWallet } from "./registry-events.ts";

const abi = parseAbi([
  "event NewPersona(uint256 virtualId, address token, address dao, address tba, address veToken, address lp)",
]);

/**
 * An AgentFactory of Virtuals: a tokenised agent, numbered by its NFT, whose wallet is the account bound to that NFT (ERC-6551). No
 * event names a document.
 */
export const virtualsAgentFactoryDecoder: RegistryDecoder = {
  topics: abi.map((item) => toEventSelector(item)),
  decode: ({ topics, data }) => {
    const event = decodeEvent(abi, { topics, data });
    if (event === null) return null;
    const { virtualId, tba } = event.args;
    return { kind: "registered", agentId: virtualId, wallet: registryWallet(tba), uri: null };
  },
};
