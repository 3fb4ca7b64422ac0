import type { Address } from "viem";
import { Problem } from "../../access/problems.ts";
import { addressSchema, toEip55 } from "../address-schema.ts";
import type { ApiContext } from "../api-env.ts";
import { signedInKey } from "./account-cookie.ts";
import { buyReport, readReport } from "./buy-report.ts";
import { rankOf } from "./leaderboard.ts";
import {
  answerPrivatePage,
  answerPublicPage,
  type Page,
  type PageHandler,
  type PageRuntime,
  redirectTo,
} from "./page.ts";
import type { WalletPaidPart, WalletView } from "./wallet-parts.ts";
import { renderWallet } from "./wallet-view.ts";

const LOCKED = { kind: "locked" } as const;

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
  const key = signedInKey(context, runtime);
  const view = await readView(address, runtime);
  if (key === null) return answerPublicPage(context, renderWallet(view, LOCKED));
  return answerPrivatePage(context, renderWallet(view, await readReport(context, runtime, { address, key })));
}

async function sell(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const key = signedInKey(context, runtime);
  const part: WalletPaidPart = key === null ? LOCKED : await buyReport(context, runtime, { address, key });
  // Read afterwards: what was bought may be the wallet's first score.
  const view = await readView(address, runtime);
  const status = "status" in part ? part.status : part.kind === "locked" ? 401 : 200;
  return answerPrivatePage(context, renderWallet(view, part), { status });
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
