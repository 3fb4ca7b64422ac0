import { createHash } from "node:crypto";
import type { Hex } from "viem";
import { AGENT_SERVICES_URL } from "./agent-document.ts";

/** A configuration of a service, as Olas' registry names it: by a hash alone. */
type ServiceDocument = { readonly configHash: Hex; readonly json: string };

/** Documents of the services in the local registry; the first two declare an endpoint. */
export const SERVICE_DOCUMENTS: readonly ServiceDocument[] = [
  { name: "Olas Trader", description: "Trades on prediction markets.", services: [endpoint("keeper/0")] },
  { name: "Olas Oracle Feeder", description: "Reports prices.", services: [endpoint("oracle-feeder/0")] },
  { name: "Olas Archivist", description: "Files what others forget." },
].map((document) => {
  const json = JSON.stringify(document);
  return { configHash: `0x${createHash("sha256").update(json).digest("hex")}`, json };
});

/** The document at a path of the local gateway; null for any other path. */
export function serviceDocumentAt(path: string): string | null {
  const found = SERVICE_DOCUMENTS.find(({ configHash }) => path === `/ipfs/f01701220${configHash.slice(2)}`);
  return found?.json ?? null;
}

function endpoint(agent: string) {
  return { name: "web", endpoint: `${AGENT_SERVICES_URL}/${agent}` };
}
