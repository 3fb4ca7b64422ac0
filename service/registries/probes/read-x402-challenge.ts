import { z } from "zod";
import { parseJson } from "../documents/json-values.ts";

/** PaymentRequired of x402 v2, as far as every scheme has it; members that are not known are let through. */
const challenge = z.object({
  x402Version: z.literal(2),
  resource: z.object({ url: z.string().min(1) }),
  accepts: z
    .array(
      z.object({
        scheme: z.string().min(1),
        network: z.string().regex(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/),
        amount: z.string().regex(/^\d{1,78}$/),
        asset: z.string().min(1),
        payTo: z.string().min(1),
        maxTimeoutSeconds: z.number().positive(),
      }),
    )
    .min(1),
});

/** Why the PAYMENT-REQUIRED header is no x402 v2 challenge (base64 of its JSON); null where it is one. */
export function readX402Challenge(header: string): string | null {
  const json = parseBase64Json(header.trim());
  if (json === undefined) return "the header is not base64 of JSON";
  const { error } = challenge.safeParse(json);
  if (error === undefined) return null;
  const [issue] = error.issues;
  return `${issue === undefined || issue.path.length === 0 ? "the challenge" : issue.path.join(".")} does not fit`;
}

function parseBase64Json(text: string): unknown {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? parseJson(Buffer.from(text, "base64")) : undefined;
}
