import type { PaymentRequirements } from "@x402/core/types";
import { type DocumentedOperation, operationsOf } from "../document-operations.ts";
import type { ServedDocument } from "../served-document.ts";
import { type ExampleSource, exampleRequest } from "./example-request.ts";
import { SERVICE_NAME, serviceDescription } from "./service-words.ts";

/** What one priced operation is announced as; `accepts` equals that of the 402 which the URL answers. */
type ManifestResource = {
  readonly url: string;
  /** The URL with its path parameters in braces. */
  readonly url_template: string;
  readonly method: string;
  readonly description: string;
  readonly price_usd: number;
  /** An example of the body; null where none is read. */
  readonly body: unknown;
  readonly accepts: readonly PaymentRequirements[];
};

/** The manifest at /.well-known/x402 (draft-hawkins-x402-dns-discovery). */
export type PaymentManifest = {
  readonly x402Version: 2;
  readonly kind: "resource-server";
  readonly name: string;
  readonly description: string;
  readonly docs: string;
  readonly attestation: { readonly type: "none" };
  readonly updated: string;
  readonly resources: readonly ManifestResource[];
};

/** The terms of a price in thousandths of a US dollar, as the live 402 has them. */
export type PaymentTerms = (units: number) => readonly PaymentRequirements[];

type ManifestSource = Omit<ExampleSource, "document"> & { readonly terms: PaymentTerms };

/** Every priced operation of the documents, each with a request that answers the terms it states. */
export function paymentManifest(
  served: readonly ServedDocument[],
  source: ManifestSource & { readonly updated: Date },
): PaymentManifest {
  return {
    x402Version: 2,
    kind: "resource-server",
    name: SERVICE_NAME,
    description: serviceDescription(served),
    docs: `${source.origin}/docs`,
    attestation: { type: "none" },
    updated: source.updated.toISOString(),
    resources: served.flatMap(({ document }) =>
      operationsOf(document).flatMap((documented) => resourceOf(documented, { ...source, document })),
    ),
  };
}

function resourceOf(
  documented: DocumentedOperation,
  source: ManifestSource & ExampleSource,
): ManifestResource[] {
  const { method, path, operation, priceUnits } = documented;
  if (priceUnits === null) return [];
  const { url, body } = exampleRequest(documented, source);
  return [
    {
      url,
      url_template: `${source.origin}${path}`,
      method,
      description: operation.summary ?? path,
      price_usd: priceUnits / 1000,
      body,
      accepts: source.terms(priceUnits),
    },
  ];
}
