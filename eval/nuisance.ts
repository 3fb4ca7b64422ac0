import type { Address } from "viem";
import type { Random } from "../devnet/population/random.ts";
import { newAddress } from "./addresses.ts";
import { fund } from "./ledger.ts";
import { DAY, type World } from "./world.ts";

type Stage = { readonly world: World; readonly random: Random };

/** Strangers send a wallet hundreds of worthless tokens and dust, and once a large gift. */
export function pester({ world, random }: Stage, wallet: Address): void {
  const until = world.start + world.days * DAY;
  for (let i = random.int(60, 400); i > 0; i -= 1) {
    fund(world.ledger, {
      from: newAddress(random),
      to: wallet,
      time: random.between(world.start, until),
      usd: 0.001,
    });
  }
  fund(world.ledger, {
    from: newAddress(random),
    to: wallet,
    time: random.between(world.start, until),
    usd: 1_000_000,
  });
}

/** A thousand strangers call a wallet and leave a cent or two, or nothing. */
export function strangersCall({ world, random }: Stage, wallet: Address): void {
  for (let i = 0; i < 1_000; i += 1) {
    world.ledger.dealings.push({
      account: newAddress(random),
      counterparty: wallet,
      time: Math.floor(world.start + random.next() * world.days * DAY),
      calls: 1,
      sentMicroUsd: BigInt(random.int(0, 20_000)),
    });
  }
}
