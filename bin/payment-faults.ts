import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";

const KEY_FORM = /^0x[0-9a-fA-F]{64}$/;

/** What does not fit together in the settings of payments; keys are compared and never shown. */
export function paymentFaults(present: Readonly<Record<string, string | undefined>>): string[] {
  const { X402_PAY_TO: payTo, X402_FACILITATOR_URL: url, X402_FACILITATOR_ADDRESS: address } = present;
  const { FACILITATOR_PRIVATE_KEY: key, PUBLISHER_PRIVATE_KEY: publisherKey } = present;
  const faults: string[] = [];
  if (payTo !== undefined && url === undefined && address === undefined)
    faults.push(
      "X402_PAY_TO: needs X402_FACILITATOR_URL, or X402_FACILITATOR_ADDRESS for a facilitator of our own",
    );
  if (url !== undefined && address !== undefined)
    faults.push("X402_FACILITATOR_URL: excludes X402_FACILITATOR_ADDRESS; one of them settles");
  if (payTo === undefined && url !== undefined) faults.push("X402_FACILITATOR_URL: needs X402_PAY_TO");
  if (payTo === undefined && address !== undefined)
    faults.push("X402_FACILITATOR_ADDRESS: needs X402_PAY_TO");
  if (key !== undefined && KEY_FORM.test(key) && address !== undefined && !isAddressOf(address, key))
    faults.push("X402_FACILITATOR_ADDRESS: is not the address of FACILITATOR_PRIVATE_KEY");
  if (key !== undefined && key.toLowerCase() === publisherKey?.toLowerCase())
    faults.push("FACILITATOR_PRIVATE_KEY: must be another key than PUBLISHER_PRIVATE_KEY");
  return faults.map((fault) => `  ${fault}`);
}

function isAddressOf(address: string, key: string): boolean {
  // The caller has seen that it has the form of a key.
  return privateKeyToAddress(key as Hex).toLowerCase() === address.toLowerCase();
}
