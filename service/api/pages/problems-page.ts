import { html } from "hono/html";
import { PROBLEMS, type ProblemCode } from "../../access/problems.ts";
import type { PageContent } from "./frame.ts";
import { renderProse } from "./prose.ts";

/** The remedy of each problem, for callers. */
const REMEDIES: Readonly<Record<ProblemCode, string>> = {
  "request-malformed": "Send a valid HTTP request with one `Host` header.",
  "body-malformed": "Send the body as UTF-8.",
  "header-malformed": "Correct the header that `detail` names.",
  "payment-malformed": "Build `PAYMENT-SIGNATURE` with an x402 version 2 client.",
  "key-missing": "Send an API key in `X-API-Key`; `/account` sells keys.",
  "key-unknown": "Check the key for missing characters, or whether it was replaced.",
  "key-expired": "Use another key.",
  "key-revoked": "Use another key, or ask the operator.",
  "identity-missing": "Send an API key, or a `SIGN-IN-WITH-X` of your wallet.",
  "sign-in-invalid": "Sign a new message; `detail` names the wrong member.",
  "balance-insufficient": "Add credits with `POST /keys/topup`, or ask the operator.",
  "spending-limit-reached": "Raise or omit `X-Spending-Limit-Usd`, or begin a new session.",
  "scope-missing": "Ask the operator for a key with this scope.",
  "cross-site": "Send the form from the page itself.",
  "not-the-submitter": "Use the key or wallet that submitted the output.",
  "not-found": "Check the path and the id.",
  "not-indexed":
    "The wallet is unknown to the index. Ask `GET /ahs/route/{address}` instead, which answers for any address.",
  "registry-not-followed": "Use a registry that `detail` names, or the agent's wallet.",
  "agent-unknown": "Check the agent's number, or find it by name with `GET /agents`.",
  "agent-without-wallet": "Set a wallet for the agent in its registry, or ask for a wallet by its address.",
  "method-not-allowed": "Use a method of the `Allow` header.",
  "request-timeout": "Send the request faster, or a smaller body.",
  "payment-in-flight": "Wait for `Retry-After`, then repeat the same request.",
  "request-in-flight": "Wait for `Retry-After`, then repeat the same request.",
  "payment-identifier-reused": "Use a new identifier for each request.",
  "job-not-submitted": "Submit the deliverable to the escrow first.",
  "deliverable-differs": "Send exactly the text whose hash was submitted to the job.",
  "output-unsettled": "Repeat the request after `Retry-After`.",
  "verdict-not-completed": "Wait until the verdict is completed.",
  "verdict-not-failed": "Only failed verdicts can be retried.",
  "verdict-open":
    "Wait until the verdict is completed or failed, and until the escrow has completed, rejected or refunded its job. Then ask again.",
  "verdict-not-held": "Only verdicts on HOLD take evidence or a review.",
  "appeal-closed":
    "Read `appeal` of the verdict. ALLOW and REJECT of a job can be appealed once, until `appeal_by`; a HOLD takes evidence.",
  "appeal-unsettled": "Repeat the request after `Retry-After`.",
  "retries-used-up": "Submit the output again.",
  "evidence-used-up": "Wait for a reviewer; no more evidence is accepted.",
  "texts-dropped":
    "The texts are deleted; the verdict remains, and its evidence unless it was erased on request.",
  "precondition-failed": "Read the policy again and send its new `ETag`.",
  "body-too-large": "Send at most 2 MiB.",
  "target-too-long": "Shorten the query.",
  "encoding-unsupported": "Send the body uncompressed.",
  "idempotency-key-reused": "Use a new `Idempotency-Key` for each request.",
  "headers-too-large": "Send fewer or shorter headers.",
  "rate-limited": "Wait for `Retry-After`; the `RateLimit` headers show the quota.",
  internal: "Repeat the request; if it fails again, report its `request_id`.",
  "database-unavailable": "Repeat the request after `Retry-After`.",
  "index-unavailable": "The index is being built. Repeat the request later.",
  "index-behind": "The index lags behind the chain. Repeat the request after `Retry-After`.",
  "scoring-unavailable": "Repeat the request after `Retry-After`.",
  "history-unavailable": "The wallet's history is being read. Repeat the request after `Retry-After`.",
  "escrow-suspended": "The escrow's code has changed. Wait until the operator has read it.",
  "names-unavailable": "Repeat the request after `Retry-After`.",
  "node-unavailable": "Repeat the request after `Retry-After`.",
  "signer-unavailable": "Repeat the request without `include=attestation`, or later.",
  "payments-unavailable": "Repeat the same request later, or use an API key.",
  "settlement-too-dear": "Gas is too expensive now. Repeat later, or use an API key.",
  "settlement-pending": "Repeat the same request; with its `claim` you do not pay again.",
  "answer-owed":
    "You have paid. Repeat the same request after `Retry-After`, with its `claim` or the same payment; you do not pay again. `GET /owed` lists it.",
  "panel-not-configured": "This deployment judges no outputs.",
  "panel-budget-spent": "Repeat the request after `Retry-After`.",
  "storage-spent": "Repeat the request after `Retry-After`, or send an API key.",
  "appeals-not-configured": "This deployment has no second panel. The decision is settled as it is.",
  "receipts-not-configured": "This deployment signs no receipts.",
  "deadline-exceeded": "Repeat the request.",
  "connection-crowded": "Use more connections, or send fewer requests at once.",
  draining: "Repeat the request; another server answers it.",
  "no-server": "Repeat the request with the same payment and `Idempotency-Key`.",
};

/** /docs/problems: the targets of the `type` of problems. */
export function problemsPage(): PageContent {
  return {
    title: "Errors explained",
    path: "/docs/problems",
    description: "Every error of the API with its status and what to do about it.",
    body: html`<h1>Errors explained</h1>
<p class="lead">Errors are RFC 9457 problems. Their <code>type</code> ends with one of these codes; <code>detail</code> has the given and the expected value. A refused or failed request costs nothing.</p>
<div class="scroll" tabindex="0"><table class="stack">
<thead><tr><th>Code</th><th>Status</th><th>Meaning</th><th>What to do</th></tr></thead>
<tbody>${Object.entries(REMEDIES).map(([code, remedy]) => {
      const { status, title } = PROBLEMS[code as ProblemCode];
      return html`
<tr id="problem-${code}"><td data-name="Code"><code>${code}</code></td><td data-name="Status">${status}</td><td data-name="Meaning">${title}</td><td data-name="What to do">${renderProse(remedy)}</td></tr>`;
    })}</tbody>
</table></div>`,
  };
}
