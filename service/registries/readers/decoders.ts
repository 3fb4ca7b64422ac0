import type { RegistryKind } from "../../chain/deployments.ts";
import { erc8004Decoder } from "./erc-8004.ts";
import { olasServiceRegistryL2Decoder } from "./olas-service-registry-l2.ts";
import type { RegistryDecoder } from "./registry-event.ts";

/** The decoder of each kind of registry: a further kind is its name in deployments.ts and one line here. */
export const REGISTRY_DECODERS: Readonly<Record<RegistryKind, RegistryDecoder>> = {
  erc8004: erc8004Decoder,
  "olas-service-registry-l2": olasServiceRegistryL2Decoder,
};
