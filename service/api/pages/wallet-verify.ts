import { html } from "hono/html";
import { encodeFunctionData } from "viem";
import { agentHealthOracleAbi } from "../../chain/abi/agent-health-oracle.ts";
import { gradeOf } from "../../chain/oracle-codec.ts";
import type { ScoreReference } from "../../scores/scores.ts";
import { toEip55 } from "../address-schema.ts";
import { countWords, gradeMark, timeTag } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import type { WalletView } from "./wallet-parts.ts";

/** A day: an age of the record that an integrator can bear. */
const MAX_AGE_SECONDS = 86_400n;

/** What the oracle contract holds for the wallet, and how that stands to the newest score. */
export function renderPublished({ published, chain, standing }: WalletView): Fragment {
  const oracle = html`<dt>Contract</dt><dd class="mono">${toEip55(chain.oracle)}</dd>`;
  if (published === null) {
    const why =
      standing.score?.ahsScore == null
        ? "Wallets without a score are published only over an earlier record."
        : "Its score is in the next nightly Merkle root at the latest.";
    return html`<p>The contract holds no record of this wallet. <span class="quiet">${why}</span></p><dl class="facts">${oracle}</dl>`;
  }
  const { ahsScore, asOfBlock, transactionHash, publishedAt } = published;
  const isOther = standing.score !== null && standing.score.ahsScore !== ahsScore;
  return html`<dl class="facts">
<dt>Score</dt><dd>${ahsScore === null ? html`${gradeMark(null)} Not enough history` : html`${gradeMark(gradeOf(ahsScore))} <b>${ahsScore}</b>`}</dd>
<dt>As of</dt><dd>block ${countWords(asOfBlock)}</dd>
<dt>Published</dt><dd>${timeTag(publishedAt)}</dd>
<dt>Transaction</dt><dd class="mono">${transactionHash}</dd>
${oracle}
</dl>
${isOther ? html`<p class="quiet small">The score above is newer. A record is replaced when the grade or a flag changes, when the score moves by 3 points, and by age where somebody asks for the wallet.</p>` : ""}`;
}

/** How anybody can check the record and the score without this service; each text is there to be copied. */
export function renderVerification(view: WalletView): Fragment {
  const { address, chain, reference } = view;
  const wallet = toEip55(address);
  return html`<p>Nothing here has to be believed. With the URL of any node of chain ${chain.chainId} in <code>RPC_URL</code>:</p>
<ol class="steps">
<li>Read the record from the contract, <code>scoreOf(${wallet})</code>:
${renderCopy(ethCall(view, encodeFunctionData({ abi: agentHealthOracleAbi, functionName: "scoreOf", args: [address] })))}</li>
<li>Ask the contract what to do with a payment, <code>routeOf(${wallet}, ${MAX_AGE_SECONDS})</code>; the first word answers 1 settle, 2 escrow, 3 reject, or 0 for a record older than a day:
${renderCopy(ethCall(view, encodeFunctionData({ abi: agentHealthOracleAbi, functionName: "routeOf", args: [address, MAX_AGE_SECONDS] })))}</li>
${reference === null ? "" : renderSteps(view, reference)}
</ol>`;
}

/** The steps for a wallet that was scored; one that was before the newest night is in its list. */
function renderSteps({ address, epoch, origin }: WalletView, { inputsHash }: ScoreReference): Fragment {
  return html`<li>Fetch the file that the newest score commits to; the keccak256 of its bytes is its name:
${renderCopy(`curl -s ${origin}/inputs/${inputsHash}`)}</li>
<li>Compute the score again from a node and those files, with the source of this service. It buys the record with your key, or reads one that you have by <code class="whole">--record FILE</code>:
${renderCopy(`AHS_API_KEY=… npm run ahs -- verify-score ${toEip55(address)} --service ${origin} --rpc-url "$RPC_URL" --deployment FILE`)}</li>
${
  epoch === null
    ? html`<li class="quiet">Once the first night's Merkle root is published, its list proves every wallet's record against the contract's <code>verify</code>.</li>`
    : html`<li>Prove the record of the newest night, if the wallet was scored by then: take its <code>record</code> and <code>proof</code> from the list, and give them to the contract's <code>verify(wallet, record, proof)</code>:
${renderCopy(`curl -s ${origin}/epochs/${epoch}`)}</li>`
}`;
}

function ethCall({ chain }: WalletView, data: string): string {
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "eth_call",
    params: [{ to: toEip55(chain.oracle), data }, "latest"],
  };
  return `curl -s "$RPC_URL" -H 'content-type: application/json' -d '${JSON.stringify(call)}'`;
}

function renderCopy(text: string): Fragment {
  return html`<div class="copyable"><pre data-copy tabindex="0"><code>${text}</code></pre></div>`;
}
