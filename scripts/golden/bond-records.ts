import type { Address } from "viem";
import { decodeSafeAmount, encodeSafeAmount } from "../../service/chain/oracle-codec.ts";
import { computeBacking } from "../../service/scores/backing/compute-backing.ts";

const FIRST: Address = "0x00000000000000000000000000000000000000b2";
const SECOND: Address = "0x00000000000000000000000000000000000000b3";
/** In millionths of a US dollar. */
const BOND = 500_000_000n;

/** Safe amounts of records of two wallets, by what each spent and has available of a bond. */
export function bondRecords(): object {
  return {
    bonded: recordOf({ wallet: FIRST, ownMicroUsd: 11_230_000n, bondMicroUsd: BOND }),
    slashed: recordOf({ wallet: FIRST, ownMicroUsd: 11_230_000n, bondMicroUsd: 0n }),
    second: recordOf({ wallet: SECOND, ownMicroUsd: 4_000_000n, bondMicroUsd: BOND }),
  };
}

function recordOf(of: {
  readonly wallet: Address;
  readonly ownMicroUsd: bigint;
  readonly bondMicroUsd: bigint;
}): object {
  const [backing] = computeBacking({
    wallets: [of.wallet],
    own: new Map([[of.wallet, of.ownMicroUsd]]),
    bonds: new Map([[of.wallet, of.bondMicroUsd]]),
    payments: [],
    receipts: [],
    jobs: new Map(),
    feedback: null,
    leftOut: 0,
    clusterOf: (account) => account,
  });
  if (backing === undefined) throw new Error(`no backing of ${of.wallet}`);
  const safe = encodeSafeAmount(backing.safeMicroUsd);
  return { ...of, safe, safeMicroUsd: decodeSafeAmount(safe) };
}
