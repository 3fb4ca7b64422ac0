import type { Address } from "viem";
import type { RegisteredAgent } from "../../store/agent-names.ts";
import type { Ecosystem } from "../../store/ecosystem.ts";
import type { ScoreDistribution } from "../../store/score-distribution.ts";
import type { ScoreReference } from "../../store/score-reference.ts";
import type { PublishedScore, Standing } from "../../store/scores.ts";
import { addressSchema, toEip55 } from "../address-schema.ts";
import type { ApiContext } from "../api-env.ts";
import { Problem } from "../problems.ts";
import { signedInKey } from "./account-cookie.ts";
import { buyReport } from "./buy-report.ts";
import type { PageChain } from "./dashboard.ts";
import { rankOf } from "./leaderboard.ts";
import { newOffer } from "./offer.ts";
import {
  answerPrivatePage,
  answerPublicPage,
  type Page,
  type PageHandler,
  type PageRuntime,
  redirectTo,
} from "./page.ts";
import { renderWallet, type WalletPaidPart, type WalletView } from "./wallet-view.ts";

/** What the page of a wallet shows to everybody. */
export type WalletPagePorts = {
  readonly chain: PageChain;
  readonly wallets: {
    standing(address: Address): Promise<Standing>;
    published(address: Address): Promise<PublishedScore | null>;
    /** How a stored score was made, by the id of its row. */
    reference(scoreId: number): Promise<ScoreReference | null>;
  };
  readonly ecosystem: () => Promise<Ecosystem>;
  readonly distribution: () => Promise<ScoreDistribution>;
  readonly agentNames: (
    wallets: readonly Address[],
  ) => Promise<ReadonlyMap<Address, readonly RegisteredAgent[]>>;
  /** A new one for each form that sells something. */
  readonly randomUuid: () => string;
};

/** GET and POST /wallet/{address}: what is public of a wallet, and what a signed-in visitor buys. */
export const walletPage: Page = {
  path: "/wallet/{address}",
  needs: "/ahs/{address}",
  get: show,
  post: sell,
};

async function show(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const name = toEip55(address);
  if (context.req.param("address") !== name) return redirectTo(context, `/wallet/${name}`, { status: 308 });
  const view = await readView(address, runtime);
  if (signedInKey(context) === null) return answerPublicPage(context, renderWallet(view, { kind: "locked" }));
  return answerPrivatePage(context, renderWallet(view, { kind: "offer", offer: offerOf(runtime) }));
}

async function sell(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const key = signedInKey(context);
  const bought = key === null ? null : await buyReport(context, runtime, { address, key });
  // Read afterwards: what was bought may be the wallet's first score.
  const view = await readView(address, runtime);
  const part: WalletPaidPart = bought === null ? { kind: "locked" } : { ...bought, offer: offerOf(runtime) };
  const status = bought === null ? 401 : bought.kind === "refused" ? bought.status : 200;
  return answerPrivatePage(context, renderWallet(view, part), { status });
}

function offerOf({ ports, clock }: PageRuntime): string {
  return newOffer(clock.now(), ports.randomUuid());
}

function addressOf(context: ApiContext): Address {
  const parsed = addressSchema.safeParse(context.req.param("address"));
  if (parsed.success) return parsed.data;
  throw new Problem(
    "not-found",
    "This is no wallet address: 0x and 40 hexadecimal digits, and in mixed case only with the checksum of EIP-55.",
  );
}

async function readView(address: Address, { ports, origin, clock }: PageRuntime): Promise<WalletView> {
  const { wallets } = ports;
  const [standing, published, names, distribution, ecosystem] = await Promise.all([
    wallets.standing(address),
    wallets.published(address),
    ports.agentNames([address]),
    ports.distribution(),
    ports.ecosystem(),
  ]);
  const { score } = standing;
  return {
    address,
    chain: ports.chain,
    standing,
    published,
    reference: score === null ? null : await wallets.reference(score.scoreId),
    agents: names.get(address) ?? [],
    rank: rankOf(score?.ahsScore ?? null, distribution),
    scored: distribution.reduce((sum, one) => sum + one.wallets, 0),
    epoch: ecosystem.newestRoot?.epoch ?? null,
    origin,
    now: clock.now(),
  };
}
