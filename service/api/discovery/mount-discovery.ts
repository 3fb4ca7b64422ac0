import type { Hono } from "hono";
import type { JWK } from "jose";
import type { Address } from "viem";
import { answer } from "../answer.ts";
import type { ApiEnv, Clock } from "../api-env.ts";
import { mountPage } from "../mount-endpoints.ts";
import type { ServedDocument } from "../served-document.ts";
import { staticDocument } from "../static-document.ts";
import { agentRegistration, type JobEvaluation } from "./agent-registration.ts";
import { llmsText } from "./llms-text.ts";
import { type PaymentTerms, paymentManifest } from "./payment-manifest.ts";
import { securityText } from "./security-text.ts";

export type DiscoveryPorts = {
  readonly clock: Clock;
  readonly discovery: {
    /** Scheme, host and port under which the service is reached. */
    readonly origin: string;
    /** Null where the deployment takes no payments. */
    readonly paymentTerms: PaymentTerms | null;
    /** A wallet that the index follows, or any where it follows none. */
    readonly sampleWallet: () => Promise<Address>;
    /** Where verdicts move escrows; null where they move none. */
    readonly evaluation: JobEvaluation | null;
    /** mailto: or https: URI for reports of weaknesses; null where none is set. */
    readonly securityContact: string | null;
  };
  /** Public keys of receipts, RFC 7517: the current one first; none where no receipts are signed. */
  readonly publicKeys: { readonly keys: readonly JWK[] };
};

const CACHED = { "cache-control": "public, max-age=300" } as const;
const JSON_CACHED = { "content-type": "application/json", ...CACHED } as const;
const PLAIN = { "content-type": "text/plain; charset=utf-8", ...CACHED } as const;

/** Mounts what machines look for at well-known places; all but the keys follows from the documents. */
export function mountDiscovery(
  app: Hono<ApiEnv>,
  served: readonly ServedDocument[],
  { clock, discovery, publicKeys }: DiscoveryPorts,
): void {
  const { origin, paymentTerms: terms, sampleWallet, evaluation, securityContact } = discovery;
  const started = clock.now();
  if (terms !== null) {
    const manifestOf = (wallet: Address) =>
      staticDocument(
        JSON.stringify(paymentManifest(served, { origin, terms, updated: started, wallet })),
        JSON_CACHED,
      );
    let made: { readonly wallet: Address; readonly manifest: ReturnType<typeof manifestOf> } | null = null;
    mountPage(app, "/.well-known/x402", async (context) => {
      const wallet = await sampleWallet();
      if (made?.wallet !== wallet) made = { wallet, manifest: manifestOf(wallet) };
      return made.manifest(context);
    });
  }
  const registration = agentRegistration(served, origin, { takesPayments: terms !== null, evaluation });
  mountPage(
    app,
    "/.well-known/agent-registration.json",
    staticDocument(JSON.stringify(registration), JSON_CACHED),
  );
  mountPage(app, "/.well-known/security.txt", (context) =>
    answer(context, {
      status: 200,
      body: securityText(origin, securityContact, clock.now()),
      headers: PLAIN,
    }),
  );
  mountPage(
    app,
    "/.well-known/jwks.json",
    staticDocument(JSON.stringify(publicKeys), { "content-type": "application/jwk-set+json", ...CACHED }),
  );
  mountPage(app, "/llms.txt", staticDocument(llmsText(served, origin, terms !== null), PLAIN));
}
