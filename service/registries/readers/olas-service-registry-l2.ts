import { type DecodeEventLogReturnType, type Hex, parseAbi, toEventSelector } from "viem";
import { decodeEvent } from "../../chain/bounded-abi.ts";
import { type RegistryDecoder, type RegistryEvent, registryWallet } from "./registry-events.ts";

const abi = parseAbi([
  "event CreateService(uint256 indexed serviceId, bytes32 configHash)",
  "event UpdateService(uint256 indexed serviceId, bytes32 configHash)",
  "event CreateMultisigWithAgents(uint256 indexed serviceId, address indexed multisig)",
]);

/** CIDv1 in base16 of a DAG-PB node under SHA2-256: what comes before a configuration's hash. */
const CONFIG_CID = "f01701220";

/**
 * Olas' ServiceRegistryL2: a service is an agent, its newest multisig that was made for it the wallet, which it has from its first deployment on,
 * and its configuration the document.
 */
export const olasServiceRegistryL2Decoder: RegistryDecoder = {
  topics: abi.map((item) => toEventSelector(item)),
  // A service can also be deployed with a Safe that exists already, without an act of that Safe.
  madeTopic: toEventSelector("SafeSetup(address,address[],uint256,address,address)"),
  decode: ({ topics, data }) => {
    const event = decodeEvent(abi, { topics, data });
    return event === null ? null : meaningOf(event);
  },
};

function meaningOf({ eventName, args }: DecodeEventLogReturnType<typeof abi>): RegistryEvent | null {
  const agentId = args.serviceId;
  switch (eventName) {
    case "CreateService":
      return { kind: "registered", agentId, wallet: null, uri: uriOf(args.configHash) };
    case "UpdateService":
      return { kind: "changed", agentId, uri: uriOf(args.configHash) };
    case "CreateMultisigWithAgents": {
      const wallet = registryWallet(args.multisig);
      return wallet === null ? null : { kind: "changed", agentId, wallet };
    }
  }
}

function uriOf(configHash: Hex): string {
  return `ipfs://${CONFIG_CID}${configHash.slice(2).toLowerCase()}`;
}
