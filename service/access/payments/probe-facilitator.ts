import { HTTPFacilitatorClient } from "@x402/core/http";

/** Whether a facilitator answers, and settles payments of the scheme exact on a CAIP-2 network; throws what its client throws. */
export async function settlesOn(
  { url, timeoutMs }: { readonly url: string; readonly timeoutMs: number },
  network: string,
): Promise<boolean> {
  const { kinds } = await new HTTPFacilitatorClient({ url, timeoutMs }).getSupported();
  return kinds.some((kind) => kind.x402Version === 2 && kind.scheme === "exact" && kind.network === network);
}
