// Written by npm run generate from the OpenAPI document of Agent Health.

export interface paths {
    "/agent/protect/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One ranked plan that protects a wallet, with its transactions ready to be signed
         * @description Runs all checks (risk, health, wash, optimize, retry) and answers one plan. It starts with transactions to sign: revocations of approvals at risk and failed transactions worth repeating, unsigned, simulated at one block alone and in sequence, with consecutive nonces and costs that the balance covers together. Then follow blockers, costs and untidiness. This service signs and sends nothing. With `webhook_url` the wallet is also monitored for 30 days. If there is no step, nothing is charged and no monitoring starts. `preview=true` answers a free preview.
         */
        get: operations["protect_wallet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find an agent by name or number
         * @description Returns up to 20 agents with their registries and wallets, best scores first. Give either `name` or `agent_id`. Besides the ERC-8004 identity registry, the agents of the deployment's further registries are found, as of the nightly scan. Anyone can register any name: check the number or the wallet before you pay.
         */
        get: operations["find_agent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ahs/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Agent Health Score of a wallet
         * @description Scores the wallet at the newest block that is finalized and enriched, and stores the result. A wallet without enough history is INSUFFICIENT, with null scores and `escrow`, never a low grade. A sanctioned wallet scores 0 and is rejected. If the wallet is not followed yet, its past is read from the deployment's history source and the wallet is followed from then on. Until that is done, or if the source fails, the answer is 503 and costs nothing. With `include=infrastructure`, or an `agent_url`, the answer shows the endpoints that the wallet's agents declare. Once these have been probed for a day they are scored too; only that answer has the mode 3D. Health and backing are two numbers: the score predicts failures and is not a fraud score; `backing` says how much money a settlement may put at stake.
         */
        get: operations["score_wallet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ahs/agent/{registry}/{agent_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Agent Health Score of a registered agent
         * @description Answers what `GET /ahs/{address}` answers for the agent's wallet, at the same price and with the same options and refusals, and names the agent in `agent`. The registry is the ERC-8004 identity registry of the deployment or one of its further registries. A registry that is not followed, an agent that is unknown and an agent without a verified wallet are 404, uncharged. The wallet of an agent can change: `address` is the one that was scored.
         */
        get: operations["score_agent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ahs/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Agent Health Scores of up to 25 wallets
         * @description Scores each wallet as `GET /ahs/{address}` does, up to 10 distinct ones for a payment and up to 25 with a key, and answers the records in the order of the request; a repeated wallet, in any case, is answered once. A wallet that cannot be scored becomes an entry of `errors`; the others are still scored. If none can be scored, the call fails like that of the first one.
         *
         *     The price is 1 USD for each distinct wallet, and 10 USD at most: the 402 names that of the request. A key and a payment of scheme `exact` pay it whole. A payment of scheme `upto` authorizes it, and is charged 1 USD for each wallet with a score, and 0.01 USD where none has one.
         */
        post: operations["score_wallets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ahs/history/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stored scores of a wallet over time
         * @description The stored scores of a wallet with grade, confidence, both dimensions and model version, newest first. It scores nothing: `GET /ahs/{address}` does. A model version that differs from the one before may explain a change by itself.
         */
        get: operations["list_score_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ahs/route/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Trust routing decision for a payment to a wallet
         * @description Decides by the caller's routing policy, which `PUT /ahs/route/policy` sets for a key or a paying wallet. The default policy settles grades A and B at once, sends C and unscored wallets to escrow and rejects the rest.
         *
         *     - **Sanctions** are read at the newest indexed block on every call. A sanctioned wallet is always rejected; no allowlist changes that.
         *     - **Threats** are imported lists of phishing, scam, mixer and exploit addresses. By default they only set `warning`. `threat_action` of a policy holds or rejects listed wallets with the reason `threat_listed`.
         *     - **Amounts**: with `amount_usd`, `instant_settle` requires that much of the wallet's safe amount. A higher amount gets `escrow` with the reason `above_safe_amount`, or `backing_unknown` while the backing is unknown. Allowlisted wallets settle any amount.
         *     - **Promises**: each `instant_settle` with an amount reserves it for a day for all callers, whether you pay or not. Allowlisted wallets reserve nothing. Without `amount_usd` the answer shows the backing and reserves nothing.
         *     - An x402 payment with `amount_usd` is settled before the decision.
         */
        get: operations["route_payment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ahs/route/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's routing policy
         * @description The policy by which `GET /ahs/route/{address}` decides for this caller: the key in `X-API-Key`, or else the wallet that signs in by `SIGN-IN-WITH-X`, whose paid calls without a key it holds for. Without a policy of its own a caller has the default table, and `updated_at` is null. `If-None-Match` with the `ETag` of an earlier answer is answered 304 while nothing changed.
         */
        get: operations["get_routing_policy"];
        /**
         * Replace the caller's routing policy
         * @description Replaces the whole policy. An omitted field gets its default, not its current value: to change one field of a stored policy, send the answer of `GET /ahs/route/policy` with that change. Each grade is in at most one set; grades in no set reject. The first rule that applies decides. A sanctioned wallet always rejects; the allowlist does not bypass sanctions. An allowlisted wallet settles at once. A wallet that is not scored, or has not enough history, gets `insufficient_action`. `confidence_overrides` come next, then the grade sets. An instant_settle by one of the last three rules becomes escrow below `min_confidence_for_instant`, and for an `amount_usd` above `max_instant_usd` or above `safe_amount_multiple` times the available safe amount. `threat_action` then holds or rejects a wallet on a list of threats. Last, `escrow_disabled` turns every escrow into a reject. The policy applies from the next route call on. `If-Match` with the `ETag` of an earlier answer prevents lost updates: the answer is 412 if the policy has changed since.
         */
        put: operations["set_routing_policy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's subscriptions
         * @description Lists the subscriptions that the API key, or the signed-in wallet, has bought, newest first. Expired and ended ones are included until they are deleted; `status` distinguishes them.
         */
        get: operations["list_subscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{subscription_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A subscription
         * @description Its events, its end and whether its endpoint answers. Requires the manage token as `Authorization: Bearer …`, the API key that bought it, or a SIGN-IN-WITH-X of the wallet that bought it.
         */
        get: operations["get_subscription"];
        put?: never;
        post?: never;
        /**
         * End a subscription
         * @description Ends it for good; what was still to be delivered is dropped, and nothing is paid back. Ending it again answers the same. Requires the manage token as `Authorization: Bearer …`, the API key that bought it, or a SIGN-IN-WITH-X of the wallet that bought it.
         */
        delete: operations["end_subscription"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{subscription_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Deliveries of a subscription
         * @description Every event of the last 30 days, newest first, with each attempt to deliver it. Requires the manage token as `Authorization: Bearer …`, the API key that bought it, or a SIGN-IN-WITH-X of the wallet that bought it.
         */
        get: operations["list_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{subscription_id}/deliveries/{delivery_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver an event again
         * @description Queues an event again, in any state, with the same webhook-id and body and all attempts anew; one that waits already goes on waiting, and one that was tried within the last minute is 429. An endpoint that was given up is delivered to again from then on. Requires the manage token as `Authorization: Bearer …`, the API key that bought it, or a SIGN-IN-WITH-X of the wallet that bought it.
         */
        post: operations["replay_delivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{subscription_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret
         * @description Makes a new secret; for 24 hours every delivery is signed by both, and by no third one: a second rotation within that time is done at once too, since a secret may have leaked, and ends the oldest, which `older_secret_ended` says. Asked for by the owner's key or wallet, it also makes a new manage token, and the old one ends, so a lost first answer is no loss. Under one `Idempotency-Key` it is rotated once, and a repeat answers without the secrets. Requires the manage token as `Authorization: Bearer …`, the API key that bought it, or a SIGN-IN-WITH-X of the wallet that bought it.
         */
        post: operations["rotate_webhook_secret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{subscription_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Queues a `subscription.test` for delivery at once; those asked for within a minute are one: the same while it waits, and 429 once it was tried. An endpoint that was given up is delivered to again from then on. Requires the manage token as `Authorization: Bearer …`, the API key that bought it, or a SIGN-IN-WITH-X of the wallet that bought it.
         */
        post: operations["test_subscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/subscribe/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * 30 days of monitoring of a wallet by webhook
         * @description Sends signed webhooks to a URL within seconds of a score that changes the wallet's grade or confidence level, puts it on a sanctions list, or moves a value below a threshold of the query.
         *
         *     - **Thresholds** fire on changes only. A value that is already below when you set its threshold sends no event; `thresholds` in the answer and in each `subscription.test` shows it. After it was at or above the threshold, or unknown, the next drop sends an event. New thresholds replace all earlier ones and add `ahs.threshold_breached` if `events` is omitted. Without thresholds a subscription keeps those that it has.
         *     - **First delivery**: `subscription.test`. Other events follow after a 2xx answer.
         *     - **Renewal**: paying again for the same wallet and URL adds 30 days. `subscription.expiring` is sent three days and one day before the end.
         *     - **Delivery** is at least once, with the same `webhook-id` in all attempts, which continue for over a day, even past the end of the subscription. An endpoint that answers none of them, or answers 410, gets no more events until its owner requests a test. Missed events are listed and can be replayed.
         *     - The subscription belongs to the key or wallet that paid.
         */
        get: operations["subscribe_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Two to 10 wallets side by side
         * @description Compares wallets by what is stored: it scores none, and reads no history. A wallet without a score has null members, and `grade_reason` says why; too little history is no sign of risk. Sanctions are looked up at the newest indexed block. `action` follows the default policy without an amount: `GET /ahs/route/{address}` decides about a payment by your own policy and its amount. A browser that asks for HTML gets the same as a page.
         */
        get: operations["compare_wallets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/counterparties/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Know your counterparty: the accounts that a wallet dealt with
         * @description Lists the accounts that the wallet called or paid in the window, and those that sent it native coin or a listed token. Accounts with the most own calls come first, then the largest senders.
         *
         *     - Each own call is attributed to its payee, or else to the called contract. For the owner's own contracts, and for executions whose target did not log, it is attributed to the external contract in the logs.
         *     - Omitted: mints, transfers of unlisted tokens in transactions of others (any contract can claim them), and senders of less than 0.01 USD, which are only counted.
         *     - A cursor continues the list as of its block. If that list cannot be made again, the cursor is refused and nothing is charged. Labels, grades and flags are current.
         *     - Each page is charged.
         */
        get: operations["list_counterparties"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/epochs/{epoch}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Merkle list of one epoch
         * @description Every wallet's record of one night with the proof that leads to the root of that night. The oracle's `verify` accepts the proofs of the latest epoch; earlier roots are in its `RootPublished` events.
         */
        get: operations["get_epoch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/evidence/{kind}/{hash}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Document behind ERC-8004 feedback or validation
         * @description What the `feedbackURI` of our entries in the ERC-8004 reputation registry names, or the `responseURI` of our answers in the validation registry: a file with the record or the verdict that the value is from. Feedback files have the form of the standard. Its bytes never change, and their keccak256 is the hash in the path. `record.inputs_hash` leads to the inputs of the score.
         */
        get: operations["get_evidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Operational health of a wallet
         * @description Success rate, fees of failures by cause, contract and method, activity by week, portfolio, open unlimited approvals, and recommendations by severity and saving, from the wallet's own calls of 180 days. Savings below 0.01 USD a month and methods with a single call give no recommendation. Values in USD are at the prices of the day; unknown values are null with a reason beside them. A wallet outside the index is read from the deployment's history source, if it has one, and is followed from then on; until that is done, or if the source fails, the answer is 503 and costs nothing. A wallet that has sent no transaction is 404 and costs nothing. `preview=true` answers a free preview.
         */
        get: operations["diagnose_wallet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inputs/{hash}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * File behind an inputs hash
         * @description What a score's `inputs_hash` names: a file that names the policy, the token list, the sanctions list and the wallet's counterparty file, each of which is here as well. All are in their RFC 8785 form, and the hash is that of the body: keccak256 for inputs and policy, SHA-256 for the lists and the counterparty file.
         */
        get: operations["get_input_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Buy an API key with credits
         * @description Sells an API key over x402: the price is the credits, from 1 to 10,000 USD, and calls are then charged to them. Only this answer shows the key. If it is lost, the wallet that paid signs in and gets another from `POST /keys/rotate`; the same payment never buys a second key. Official x402 clients pay at most 1 USD by default: raise the limit to the price with `setSpendControls`, for this asset alone.
         */
        post: operations["buy_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace an API key by a new one
         * @description Gives a key another secret; the old one is dead at once, and balance, rate, policy and subscriptions stay. By the key itself in `X-API-Key`, or by `SIGN-IN-WITH-X` of the wallet that bought it, with `key_id` where that wallet bought several: so a lost answer is not a lost purchase. Under one `Idempotency-Key` the key is renewed once, and a repeat answers without the secret, which is stored nowhere. A request with the old key cannot be repeated: that key is refused from then on.
         */
        post: operations["rotate_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/self": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Balance and spending of the key
         * @description What the key in `X-API-Key` is, what is left on it, and what it spent in the last 30 days.
         */
        get: operations["get_balance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/topup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add credits to an API key
         * @description Adds credits, from 1 to 10,000 USD, to the key in `X-API-Key`, paid over x402 by any wallet. A key that is unknown, revoked or expired is refused before anything is charged, as is one without a limit. The same payment, and the same `Idempotency-Key`, credit once, and the key of their first request alone.
         */
        post: operations["top_up_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Liveness
         * @description 200 while the process runs.
         */
        get: operations["check_liveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/network-map/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Map of the accounts around a wallet
         * @description Accounts within two hops of the wallet and the links among them: its creator and first funder, the accounts that it created or funded, accounts with the same funder, its peers, and of the 60 most frequent their funders and the three accounts that each calls most. Exchanges and other public funders are shown, but create no links. At most 150 nodes and 400 edges, chosen in that order; what is left out is counted. Peers are those of the window, by own calls, then by the value they sent, from one cent on. Links among accounts are known from the time that the index follows one of them.
         */
        get: operations["map_network"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/optimize/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Operational efficiency report: where the gas of a wallet goes, and what it could save
         * @description Recommendations with an upper bound of their saving, then the bill of each contract and method: calls, failures, gas limits against the gas that 95% of the successful calls used, and what was paid above the base fee and median tip of each call's own block. Methods with a single call give no recommendation. Totals are exact sums in wei; amounts without a receipt or price are null. If no recommendation saves money, nothing is charged. `preview=true` answers a free preview.
         */
        get: operations["optimize_gas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/owed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Payments whose answers are owed
         * @description Lists settled x402 payments whose work failed, of the signed-in wallet, or of the wallet that bought the API key. Each of their answers is free: send the same request again with `SIGN-IN-WITH-X`, with the claim of the failed answer, or with any payment of that wallet for it. A new payment is not taken then. Answers that show a secret need more than the old payment, which is public. Waiting changes nothing: what is owed stays owed.
         */
        get: operations["list_owed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/owner-cluster/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wallets of the owner of a wallet
         * @description Lists up to 100 followed wallets of the owner cluster of a wallet, with their current scores, safe amounts and last activity, and a summary of all of them. The clusters are those of the model: accounts that a common creator, a common first funder or mutual funding links to the wallet; public funders link none, and a new account that the wallet only paid is no part of it. Links by creator, first funder or mutual funding are evidence of one owner, not proof: a service may create or fund wallets of different owners. It reads stored data and scores nothing.
         */
        get: operations["list_owner_wallets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readiness
         * @description 503 while this server should get no request: it shuts down, its clock differs from the database's, or the database does not answer; each check is listed. `index` and `sanctions` say how fresh the data is and do not affect the status: endpoints that need fresh data refuse by themselves.
         */
        get: operations["check_readiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/report-card/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Visual report card of a wallet with benchmarks
         * @description Scores the wallet as GET /ahs/{address} does and answers what the score is made of in words, its rank among all scored wallets of the chain, and its history. With `format=png` or `format=svg` the same as a picture, drawn for this answer alone and kept at no public address. A wallet without enough history is shown as that, without a rank.
         */
        get: operations["draw_report_card"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/retry/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Failed transactions worth sending again, ready to be signed
         * @description Lists every transaction of the wallet that failed in the last 30 days. One of the last 14 days is offered again, as an unsigned EIP-1559 transaction of the same value and calldata, unless a later or pending transaction does the same: the same calldata at the same account, for a transfer the same token and recipient, for an allowance the same token and spender, for a swap the same two tokens and recipient. If calldata does not show its purpose, any later success of the same method counts. An offer passes a simulation at the newest indexed block, and balance and allowances suffice for all offers together; nonces follow pending ones. All other failures are listed with the reason. This service signs and sends nothing. It offers nothing that involves sanctioned accounts or mixers, and nothing for a smart account, which has no key. If there is no offer, nothing is charged. `preview=true` answers a free preview.
         */
        get: operations["plan_retries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/risk/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pre-transaction trust check of a wallet
         * @description How risky it is to deal with a wallet, from its newest stored score, the sanctions lists at the newest indexed block, and the recipients of its value. It does not score the wallet: one never scored, or without enough history, has no `risk_score` and the level UNKNOWN, because missing data is no sign of risk. A sanctioned wallet is always 100 and CRITICAL.
         */
        get: operations["check_risk"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/risk/premium/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Risk of a wallet with its labels and its profit and loss
         * @description The answer of `GET /risk/{address}`, with what the chain and third-party providers call the wallet, and what it gained and lost by trading. `labels_available` is false if a provider failed or none is configured (see `labels_unavailable_reason`). Unknown prices and costs are null, not 0; `pnl.unpriced_share` says how much is missing.
         */
        get: operations["check_premium_risk"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wash/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Financial health scan
         * @description Scans a wallet's own finances: dust, unrecognised tokens, approvals at risk, delegated code, self-dealing and circular transfers, and spam that others sent. The score is 100 less deductions that add up; only the wallet's own actions take points. A wallet that is sanctioned, failing or little known gets no score. Every issue has a severity and an action. Nothing is changed on chain, and the request has no body. `preview=true` answers a free preview.
         */
        post: operations["scan_financial_health"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "ahs.confidence_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The level of the confidence changed; a wallet never scored counts as INSUFFICIENT. The level falls over time if a wallet makes no calls: the event follows the next score. */
        post: operations["webhook_ahs_confidence_changed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "ahs.grade_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The grade of the wallet's current score changed; no grade counts as a grade. If a reorg reverts a score, the change back is sent too. */
        post: operations["webhook_ahs_grade_changed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "ahs.sanctions_hit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The wallet is on a sanctions list, and was on none before. Its end shows as a change of grade. */
        post: operations["webhook_ahs_sanctions_hit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "ahs.threshold_breached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A change of score took values below thresholds of the subscription, which were at or above them before, or unknown: one event names them all. A value that stays below is not sent again, unless it recovered or became unknown in between. */
        post: operations["webhook_ahs_threshold_breached"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.expiring": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The subscription ends soon. Sent three days and one day before the end, once each, regardless of its events; after an extension, for the new end. Paying again for the same wallet and URL extends it. */
        post: operations["webhook_subscription_expiring"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The first event of every subscription, and whenever its owner asks for it: answer it with a 2xx. */
        post: operations["webhook_subscription_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        AgentDocument: {
            agent_id: string;
            detail: string | null;
            /**
             * @description What came of the last try to read its registration document; null before the first
             * @enum {string|null}
             */
            document: "current" | "unreachable" | "refused" | "malformed" | null;
            /**
             * Format: date-time
             * @description When the document was read that is spoken of
             * @example 2026-11-20T09:58:00.000Z
             */
            fetched_at: string | null;
            /**
             * @description Null for the ERC-8004 identity registry that the index follows
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            registry: string | null;
        };
        AgentUrl: {
            /** @description Whether it equals or lies under a declared endpoint; if not, it scores nothing */
            bound: boolean;
            /** @description The declared endpoint that it belongs to */
            endpoint: string | null;
            probe: components["schemas"]["Probe"] & unknown;
            url: string;
        } | null;
        AhsRecord: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @description Caps, effects and roundings. The points of `dimensions` and the adjustments of AHS add up to ahs_score */
            adjustments?: components["schemas"]["ScoreAdjustment"][];
            /** @description The agent whose wallet is scored; in GET /ahs/agent/{registry}/{agent_id} alone */
            agent?: {
                /**
                 * @description Number in its registry
                 * @example 142
                 */
                agent_id: string;
                /**
                 * @description From the agent's own registration document, unverified; null if none was read
                 * @example keeper 1
                 */
                name: string | null;
                /** @description The registry that numbers the agent */
                registry: {
                    /**
                     * @description Contract, EIP-55
                     * @example 0x8004A818BFB912233c491871b3d84c89A494BD9e
                     */
                    address: string | null;
                    /**
                     * @description As the service calls it
                     * @example ERC-8004 identity registry
                     */
                    name: string;
                };
            };
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            attestation?: components["schemas"]["Attestation"];
            /** @description Left out by POST /ahs/batch; null while it is unknown, which is not zero */
            backing?: {
                /**
                 * @description All wallets' backings of a chain are computed together
                 * @example 48190
                 */
                as_of_block: number;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                as_of_time: string;
                /**
                 * @description The safe amount without what is outstanding, 0 or more
                 * @example 30.5
                 */
                available_usd: number;
                /**
                 * @description The part of its bond in USDC that is neither committed to a job nor unbonding. It covers ERC-8183 jobs that commit it, and is no part of the safe amount
                 * @example 0
                 */
                bond_usd: number;
                /**
                 * @description Costs of 180 days that do not come back to the wallet, and the part of its payers' cost bases that their payments passed on
                 * @example 85
                 */
                cost_basis_usd: number;
                /**
                 * @description The greater of two sums of one day: amounts that routing said may settle at once, and payments to the wallet on chain from outside its owner cluster
                 * @example 12
                 */
                outstanding_usd: number;
                /**
                 * @description Greatest amount to have at stake with the wallet at once: half of its cost basis, before what is outstanding. It is promised again each day. 0 for a sanctioned wallet, as in the oracle's record
                 * @example 42.5
                 */
                safe_amount_usd: number;
            } | null;
            /** @example 8453 */
            chain_id: number;
            /** @example 0.81 */
            confidence: number;
            confidence_level: components["schemas"]["ConfidenceLevel"];
            coverage: components["schemas"]["Coverage"];
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            d1_score: number | null;
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            d2_score: number | null;
            /**
             * @description Null while the mode is 2D
             * @example null
             */
            d3_score: number | null;
            /** @description What each dimension brings to the score; empty without a score */
            dimensions?: components["schemas"]["DimensionShare"][];
            /** @description The measured signals; no caps or roundings */
            features?: components["schemas"]["Feature"][];
            grade: components["schemas"]["Grade"];
            /**
             * @description Excellent 90-100, Good 75-89, Needs Attention 60-74, Degraded 40-59, Critical 20-39, Failing 0-19, Insufficient history
             * @example Good
             */
            grade_label: string;
            /**
             * @description Why the grade is what it is, in one sentence
             * @example Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).
             */
            grade_reason: string;
            /** @description Newest first, at most 100 */
            history?: components["schemas"]["HistoryEntry"][];
            improvement: components["schemas"]["ScoreImprovement"];
            infrastructure?: components["schemas"]["Infrastructure"];
            /**
             * @description Commits to everything that the score was computed from
             * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
             */
            inputs_hash: string;
            /** @enum {string} */
            mode: "2D" | "3D";
            /** @example AHS-2026.2 */
            model_version: string;
            patterns: components["schemas"]["Pattern"][];
            published: components["schemas"]["Published"];
            /**
             * @description One of each kind of threat; exposure_listed: part of what it sent went to listed accounts
             * @example []
             */
            reason_codes: ("listed_phishing" | "listed_scam" | "listed_mixer" | "listed_exploit" | "exposure_listed")[];
            /** @example [] */
            sanctions_flags: components["schemas"]["SanctionsFlag"][];
            /** @description Left out by POST /ahs/batch; null where no one paid the wallet and no job of another ended */
            seller_profile?: {
                /**
                 * @description Effective number of those weeks
                 * @example 9.5
                 */
                active_weeks: number;
                /** @description ERC-8004 feedback by independent payers, with the five most used tags. It counts for no score and no routing. Null where the deployment names no reputation registry */
                feedback: {
                    /** @description Independent payers who left feedback after a payment */
                    payers: number;
                    tags: {
                        /**
                         * @description Median of their values, decimals applied
                         * @example 87.5
                         */
                        median: number;
                        /** @description Payers who used it, each with its newest entry */
                        payers: number;
                        /**
                         * @description tag1 in lower case, of at most 32 characters
                         * @example starred
                         */
                        tag: string;
                    }[];
                } | null;
                /** @description ERC-8183 jobs of independent clients who funded them */
                jobs: {
                    /** @description Completed */
                    completed: number;
                    /** @description Expired */
                    expired: number;
                    /** @description Rejected by an evaluator of neither side */
                    rejected: number;
                };
                /**
                 * @description Share of all payments to it that its own owner cluster made
                 * @example 0.1
                 */
                own_cluster_share: number;
                /** @description Independent payers: owner clusters other than its own */
                payers: number;
                /**
                 * @description Share of the revenue that it paid back to who paid it
                 * @example 0.02
                 */
                refunded_share: number;
                /** @description Payers in two different weeks or more */
                returning_payers: number;
                /**
                 * @description Payments by independent payers in 180 days
                 * @example 210.5
                 */
                revenue_usd: number;
                verdicts: {
                    /** @description ALLOW */
                    allow: number;
                    /** @description REJECT */
                    reject: number;
                };
                /** @description Weeks with revenue */
                weeks: number;
                /**
                 * @description The same, each counted by its cost basis: as one from 1 USD on
                 * @example 3.4
                 */
                weighted_payers: number;
            } | null;
            /** @description The score is as of a block older than 24 hours */
            stale: boolean;
            /**
             * @description Lists of phishing, scam, mixer and exploit addresses that the operator imported and the wallet is on. They change no score; `threat_action` of a routing policy decides what they do to a payment
             * @example []
             */
            threats: components["schemas"]["Threat"][];
            /**
             * Format: date-time
             * @description When this answer was made
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /**
             * @description Over 30 days of stored scores; null below three of them
             * @example stable
             * @enum {string|null}
             */
            trend: "improving" | "stable" | "declining" | null;
            trust_routing: components["schemas"]["RoutingAction"];
        };
        /** @description EIP-712 typed data that publishSigned of the oracle accepts from anyone */
        Attestation: {
            signature: string;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            signer: string;
            typed_data: {
                domain: {
                    chainId: number;
                    name: string;
                    /**
                     * @description EIP-55 address
                     * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                     */
                    verifyingContract: string;
                    version: string;
                };
                /** @description 64-bit members as decimal strings */
                message: {
                    [key: string]: string | number;
                };
                primaryType: string;
                types: {
                    [key: string]: {
                        name: string;
                        type: string;
                    }[];
                };
            };
        };
        /** @description How much money the costs of the wallet and its payers stand for, in US dollars with at most 6 decimals. The health score predicts failures and is no fraud score; the safe amount says how much money a settlement may put at stake. Null while it is unknown, which is not zero: none was computed for the chain within a day, or the wallet was not followed by then. A routing decision shows it as it decided, before its own amount; records of POST /ahs/batch leave it out */
        Backing: {
            /**
             * @description All wallets' backings of a chain are computed together
             * @example 48190
             */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /**
             * @description The safe amount without what is outstanding, 0 or more
             * @example 30.5
             */
            available_usd: number;
            /**
             * @description The part of its bond in USDC that is neither committed to a job nor unbonding. It covers ERC-8183 jobs that commit it, and is no part of the safe amount
             * @example 0
             */
            bond_usd: number;
            /**
             * @description Costs of 180 days that do not come back to the wallet, and the part of its payers' cost bases that their payments passed on
             * @example 85
             */
            cost_basis_usd: number;
            /**
             * @description The greater of two sums of one day: amounts that routing said may settle at once, and payments to the wallet on chain from outside its owner cluster
             * @example 12
             */
            outstanding_usd: number;
            /**
             * @description Greatest amount to have at stake with the wallet at once: half of its cost basis, before what is outstanding. It is promised again each day. 0 for a sanctioned wallet, as in the oracle's record
             * @example 42.5
             */
            safe_amount_usd: number;
        } | null;
        Batch: {
            /** @description Of the results */
            count: number;
            /** @description Wallets that could not be scored */
            errors: {
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                address: string;
                problem: components["schemas"]["BatchProblem"];
            }[];
            /** @description In the order of the request, each wallet once */
            results: components["schemas"]["AhsRecord"][];
        };
        /** @description What GET /ahs/{address} would have answered */
        BatchProblem: {
            /** @example The index does not follow 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc. */
            detail: string;
            /** @example 404 */
            status: number;
            /** @example Wallet not indexed */
            title: string;
            /** @example /docs#problem-not-indexed */
            type: string;
        };
        BatchRequest: {
            /** @description Wallets in any case, at most 10 distinct ones by payment and 25 with a key */
            addresses: string[];
        };
        /** @description All wallets of this chain that have a score, sanctioned ones with 0; at most half a minute old */
        Benchmark: {
            /** @example 77.1 */
            average_score: number | null;
            /**
             * @example {
             *       "A": 24,
             *       "B": 2,
             *       "C": 1,
             *       "D": 4,
             *       "E": 2,
             *       "F": 5
             *     }
             */
            grade_distribution: {
                /** @example 2 */
                A: number;
                /** @example 2 */
                B: number;
                /** @example 2 */
                C: number;
                /** @example 2 */
                D: number;
                /** @example 2 */
                E: number;
                /** @example 2 */
                F: number;
            };
            /**
             * @description Mid-rank, to a tenth: share of the scored wallets that score less, and half of those that score the same; null for a wallet without a score
             * @example 31.6
             */
            percentile: number | null;
            /**
             * @description One more than the scored wallets with a better score; null for a wallet without a score, or on a sanctions list
             * @example 26
             */
            rank: number | null;
            /**
             * @description By tens; the last one holds 90 to 100
             * @example [
             *       {
             *         "from": 0,
             *         "to": 9,
             *         "wallets": 3
             *       },
             *       {
             *         "from": 10,
             *         "to": 19,
             *         "wallets": 2
             *       },
             *       {
             *         "from": 20,
             *         "to": 29,
             *         "wallets": 0
             *       },
             *       {
             *         "from": 30,
             *         "to": 39,
             *         "wallets": 2
             *       },
             *       {
             *         "from": 40,
             *         "to": 49,
             *         "wallets": 1
             *       },
             *       {
             *         "from": 50,
             *         "to": 59,
             *         "wallets": 3
             *       },
             *       {
             *         "from": 60,
             *         "to": 69,
             *         "wallets": 1
             *       },
             *       {
             *         "from": 70,
             *         "to": 79,
             *         "wallets": 0
             *       },
             *       {
             *         "from": 80,
             *         "to": 89,
             *         "wallets": 2
             *       },
             *       {
             *         "from": 90,
             *         "to": 100,
             *         "wallets": 24
             *       }
             *     ]
             */
            score_distribution: {
                from: number;
                to: number;
                /** @example 2 */
                wallets: number;
            }[];
            /** @example 38 */
            scored_wallets: number;
        };
        /** @description A key that a wallet bought; its name is the wallet */
        BoughtKey: {
            /**
             * @description The key itself, for the header X-API-Key. Shown in this answer only: a repeat of the request shows null, and POST /keys/rotate makes another
             * @example ahs_Zk3vQ9aBxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
             */
            api_key: string | null;
            /**
             * @description Null: unlimited
             * @example 25
             */
            balance_usd: number | null;
            /**
             * Format: date-time
             * @description Null: never
             * @example null
             */
            expires_at: string | null;
            /** Format: uuid */
            key_id: string;
            /**
             * @description First characters of the key, which identify it in lists
             * @example ahs_Zk3vQ9aB
             */
            key_prefix: string;
            /** @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc */
            name: string;
            /**
             * @description Calls that the key may make in a minute
             * @example 600
             */
            rate_per_minute: number;
        };
        /** @description deployment: named by the operator. identity-registry: an agent's own registration, with an unverified name. token-contract: the symbol that an unlisted token contract reports, unverified */
        ChainLabel: {
            /** @enum {string} */
            category: "agent" | "token" | "system" | "entry_point" | "public_funder" | "mixer";
            /** @example Agent 17: Delta keeper */
            label: string;
            /**
             * @example identity-registry
             * @enum {string}
             */
            source: "deployment" | "identity-registry" | "token-contract";
        };
        ComparedWallet: {
            action: components["schemas"]["RoutingAction"] & unknown;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @description The first three agents that the wallet acts for */
            agents: {
                /**
                 * @description Number in its registry
                 * @example 142
                 */
                agent_id: string;
                /**
                 * @description From the agent's own registration document, unverified; null if none was read
                 * @example keeper 1
                 */
                name: string | null;
                /** @description The registry that numbers the agent */
                registry: {
                    /**
                     * @description Contract, EIP-55
                     * @example 0x8004A818BFB912233c491871b3d84c89A494BD9e
                     */
                    address: string | null;
                    /**
                     * @description As the service calls it
                     * @example ERC-8004 identity registry
                     */
                    name: string;
                };
            }[];
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            backing: components["schemas"]["Backing"];
            /**
             * @description Own calls of any age, counted up to 10000; null if the wallet is not followed and none is known
             * @example 224
             */
            calls: number | null;
            /** @example 0.81 */
            confidence: number;
            confidence_level: components["schemas"]["ConfidenceLevel"];
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            d1_score: number | null;
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            d2_score: number | null;
            /**
             * @description Whether the index follows the wallet
             * @example true
             */
            followed: boolean;
            grade: components["schemas"]["Grade"];
            /**
             * @description Why the wallet has its grade or no grade, in one sentence
             * @example Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).
             */
            grade_reason: string;
            /**
             * Format: date-time
             * @description Its last own call; null if none is known
             * @example 2026-11-20T09:58:00.000Z
             */
            last_active_at: string | null;
            /**
             * @example grade
             * @enum {string}
             */
            reason: "sanctioned" | "allowlist" | "threat_listed" | "confidence_override" | "grade" | "escrow_disabled" | "insufficient_history" | "not_scored" | "confidence_below_minimum" | "above_max_instant" | "backing_unknown" | "above_safe_amount";
            /**
             * @description One of each kind of threat; exposure_listed: part of what it sent went to listed accounts
             * @example []
             */
            reason_codes: ("listed_phishing" | "listed_scam" | "listed_mixer" | "listed_exploit" | "exposure_listed")[];
            /**
             * Format: date-time
             * @description Time of the block that the score is as of
             * @example 2026-11-20T09:58:00.000Z
             */
            scored_at: string | null;
            /** @description The score is older than 24 hours; null without one */
            stale: boolean | null;
            /**
             * @description Lists of phishing, scam, mixer and exploit addresses that the operator imported and the wallet is on. They change no score; `threat_action` of a routing policy decides what they do to a payment
             * @example []
             */
            threats: components["schemas"]["Threat"][];
            /**
             * @description Over 30 days of stored scores; null below three of them
             * @example stable
             * @enum {string|null}
             */
            trend: "improving" | "stable" | "declining" | null;
        };
        Comparison: {
            /** @description The features and patterns in whose cost the wallets differ most, the largest first: at most 5, of 2 points or more */
            differences: components["schemas"]["WalletDifference"][];
            /** @description In the order of the request */
            wallets: components["schemas"]["ComparedWallet"][];
        };
        ConfidenceChangedEvent: {
            data: {
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                address: string;
                /** @example 48210 */
                as_of_block: number;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                as_of_time: string;
                /** @example 8453 */
                chain_id: number;
                /** @example 0.81 */
                confidence: number;
                confidence_level: components["schemas"]["ConfidenceLevel"];
                current: components["schemas"]["ScoreState"] & unknown;
                /**
                 * @description Of the record that shows the change
                 * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
                 */
                inputs_hash: string;
                previous: components["schemas"]["ScoreState"];
                /** @example 0.59 */
                previous_confidence: number | null;
                /**
                 * @description Null for a wallet never scored
                 * @example MEDIUM
                 */
                previous_confidence_level: components["schemas"]["ConfidenceLevel"] | null;
                /** Format: uuid */
                subscription_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "ahs.confidence_changed";
        };
        /** @enum {string} */
        ConfidenceLevel: "HIGH" | "MEDIUM" | "LOW" | "INSUFFICIENT";
        /**
         * @description Actions by grade and confidence level, which go before the grade sets
         * @example {
         *       "B": {
         *         "HIGH": "instant_settle"
         *       }
         *     }
         */
        ConfidenceOverrides: {
            A?: {
                /** @enum {string} */
                HIGH?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                LOW?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                MEDIUM?: "instant_settle" | "escrow" | "reject";
            };
            B?: {
                /** @enum {string} */
                HIGH?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                LOW?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                MEDIUM?: "instant_settle" | "escrow" | "reject";
            };
            C?: {
                /** @enum {string} */
                HIGH?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                LOW?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                MEDIUM?: "instant_settle" | "escrow" | "reject";
            };
            D?: {
                /** @enum {string} */
                HIGH?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                LOW?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                MEDIUM?: "instant_settle" | "escrow" | "reject";
            };
            E?: {
                /** @enum {string} */
                HIGH?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                LOW?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                MEDIUM?: "instant_settle" | "escrow" | "reject";
            };
            F?: {
                /** @enum {string} */
                HIGH?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                LOW?: "instant_settle" | "escrow" | "reject";
                /** @enum {string} */
                MEDIUM?: "instant_settle" | "escrow" | "reject";
            };
        };
        Counterparties: {
            /** @description Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped */
            accounts_left_out?: number;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 8453 */
            chain_id: number;
            /** @description Herfindahl-Hirschman indices over all counterparties: 10,000 is one alone, 10,000 / n is n equal ones; of own calls, and of the priced volume each way, where others decide what comes in. Null where there is nothing to share */
            concentration: {
                /** @example 1830 */
                hhi_calls: number | null;
                /** @example 1830 */
                hhi_volume_in: number | null;
                /** @example 1830 */
                hhi_volume_out: number | null;
            };
            /** @description Most own calls first, then by rising address; after them who was never called, most sent first */
            counterparties: components["schemas"]["Counterparty"][];
            coverage: components["schemas"]["Coverage"];
            /**
             * @description Null on the last page
             * @example null
             */
            next_cursor: string | null;
            totals: {
                /** @example 7 */
                both: number;
                /** @example 7 */
                calls: number;
                /**
                 * @description Own calls that called or paid the wallet itself
                 * @example 7
                 */
                calls_to_itself: number;
                /**
                 * @description Own calls that show no counterparty: contract creations, executions that no log explains
                 * @example 7
                 */
                calls_to_nobody: number;
                /** @example 7 */
                counterparties: number;
                /**
                 * @description Accounts that sent less than a cent in all, in transactions of others. No other field counts them or their transfers
                 * @example 7
                 */
                dust_senders: number;
                /** @example 7 */
                dust_transfers: number;
                /** @example 7 */
                failed_calls: number;
                /** @example 7 */
                in: number;
                /**
                 * @description False where only the newest 50,000 transfers from others were read
                 * @example true
                 */
                incoming_complete: boolean;
                /** @example 7 */
                interactions: number;
                /** @example 7 */
                out: number;
                /**
                 * @description Counterparties of own calls that belong to the wallet's owner
                 * @example 7
                 */
                own_accounts: number;
                /** @example 7 */
                transfers_in: number;
                /**
                 * @description Counterparties of at least one transfer without a known price. The _usd fields leave out such transfers
                 * @example 7
                 */
                unpriced_counterparties: number;
                /** @example 2410.5 */
                volume_in_usd: number | null;
                /** @example 2410.5 */
                volume_out_usd: number | null;
            };
            window: components["schemas"]["ReportWindow"];
        };
        Counterparty: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /**
             * @description Own calls to it, or payments to it, failed ones included
             * @example 7
             */
            calls: number;
            /** @enum {string} */
            direction: "out" | "in" | "both";
            /** @example 7 */
            failed_calls: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            first_seen: string;
            grade: components["schemas"]["Grade"];
            /**
             * @description How much dealing with it proves about the wallet, 0 to 1: by its independent users or its age; null if no own call went to it
             * @example 0.998
             */
            independence: number | null;
            /**
             * @description calls + transfers_in
             * @example 7
             */
            interactions: number;
            /**
             * @description Null if not known
             * @example false
             */
            is_contract: boolean | null;
            /** @description The most trustworthy first */
            labels: components["schemas"]["ChainLabel"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            last_seen: string;
            mixer: boolean;
            /**
             * @description Best name known: the first of `labels`; null without any
             * @example Agent 17: Delta keeper
             */
            name: string | null;
            /**
             * @description Lowest address of the counterparties that share an owner with it; null where none does
             * @example null
             */
            owner_group: string | null;
            /**
             * @description What links it to the wallet's owner; null where nothing is known to
             * @example null
             * @enum {string|null}
             */
            owner_link: "itself" | "creator" | "first_funder" | "mutual_funding" | null;
            /** @example [] */
            sanctions_flags: components["schemas"]["SanctionsFlag"][];
            /**
             * @description Whether it was ever scored, or is sanctioned, which is an F
             * @example true
             */
            scored: boolean;
            /**
             * @description Transfers from it in transactions of others
             * @example 7
             */
            transfers_in: number;
            volume_in: components["schemas"]["CounterpartyVolume"];
            volume_out: components["schemas"]["CounterpartyVolume"];
            /**
             * @description Value of all transfers out and in; null if nothing that moved has a price
             * @example 2410.5
             */
            volume_usd: number | null;
        };
        /** @description Outgoing value within one hop. Incoming transfers do not count. Lists are those of the newest indexed block; grades are the newest stored ones, at most a minute old */
        CounterpartyExposure: {
            /** @example 48210 */
            as_of_block: number;
            /** @example 12 */
            counterparties: number;
            /** @example 1 */
            failing_counterparties: number;
            /**
             * @description Share of `sent_usd` that went to unlisted wallets of grade F; by number of calls if nothing had a price
             * @example 0.004
             */
            failing_share: number;
            listed_counterparties: number;
            /**
             * @description Share of the outgoing value of the scoring window that went to sanctioned accounts and mixers, as in the score; by number of calls if nothing had a price. Null while own calls cannot be read
             * @example 0
             */
            listed_share: number | null;
            /**
             * @description Priced value sent to all counterparties, own accounts included, since the first contact
             * @example 18240.5
             */
            sent_usd: number;
            /**
             * @description listed_share and failing_share together, 1 at most
             * @example 0.004
             */
            share: number | null;
            /**
             * Format: date-time
             * @description First contact that is known
             * @example 2026-11-20T09:58:00.000Z
             */
            since: string;
            /** @description True where only 10,000 counterparties were examined */
            truncated: boolean;
        } | null;
        CounterpartyVolume: {
            /**
             * @description Whether all that moved has a price
             * @example true
             */
            fully_priced: boolean;
            /** @example 2411368784000 */
            native_wei: string;
            /** @description Amounts in the tokens' smallest units; the first 20, most worth first */
            tokens: {
                /** @example 2411368784000 */
                amount: string;
                /** @example 6 */
                decimals: number | null;
                /** @example USDC */
                symbol: string | null;
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                token: string;
                /** @example 2410.5 */
                value_usd: number | null;
                /**
                 * @description Whether the operator lists the token; if not, symbol and decimals are the contract's own
                 * @example true
                 */
                verified: boolean;
            }[];
            /** @example 0 */
            tokens_left_out: number;
            /**
             * @description At the prices of the days, of all that has a price; 0 where nothing moved, null where something moved and nothing of it has a price
             * @example 2410.5
             */
            value_usd: number | null;
        };
        Coverage: {
            /**
             * @description Whether every transaction of the window is known. Signed payments (x402) and executions of smart accounts are known only since the wallet is followed
             * @example true
             */
            complete: boolean;
            /** @example 1 */
            from_block: number;
            /**
             * @description Present where the wallet made more own calls in the window than are read of one wallet, the newest 20,000 and less where they are large: from_block is the block of the oldest that was read
             * @enum {boolean}
             */
            newest_calls_only?: true;
            /**
             * @example [
             *       "index"
             *     ]
             */
            sources: string[];
            /** @example 48210 */
            to_block: number;
        };
        CreditsInput: {
            /**
             * @description Credits to buy, in US dollars and whole cents; they cost as much
             * @example 25
             */
            credits_usd: number;
        };
        Deliveries: {
            deliveries: components["schemas"]["Delivery"][];
            /**
             * @description Null on the last page
             * @example null
             */
            next_cursor: string | null;
            /** Format: uuid */
            subscription_id: string;
        };
        Delivery: {
            attempts: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                at: string;
                /** @example The endpoint answered 503. */
                failure: string | null;
                /** @example 41 */
                latency_ms: number;
                /**
                 * @description What the endpoint answered; null where it did not
                 * @example 503
                 */
                status: number | null;
            }[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            delivered_at: string | null;
            /**
             * @description The webhook-id of every attempt
             * @example msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10
             */
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            next_attempt_at: string | null;
            /**
             * @description What is sent
             * @example {
             *       "type": "subscription.test",
             *       "timestamp": "2026-11-20T09:58:00.000Z",
             *       "data": {}
             *     }
             */
            payload: {
                [key: string]: unknown;
            };
            /**
             * @description failed: given up after the last attempt, or answered 410. dropped: its endpoint or subscription ended first. Both can be replayed
             * @enum {string}
             */
            state: "pending" | "delivered" | "failed" | "dropped";
            /** @example subscription.test */
            type: string;
        };
        DimensionShare: {
            /** @enum {string} */
            dimension: "D1" | "D2" | "D3";
            /**
             * @description score × weight
             * @example 26.92
             */
            points: number;
            /**
             * @description 0 to 100, before rounding to the integer dimension score
             * @example 89.73
             */
            score: number;
            /** @example Wallet hygiene */
            title: string;
            /**
             * @description Share of the score
             * @example 0.3
             */
            weight: number;
        };
        Endpoint: {
            /** @description Share of the probes that were answered as by a service that is up */
            availability: number | null;
            /** @description Share of the probes that failed in any way */
            error_rate: number | null;
            /** @description By day, newest first, at most 31 */
            history: components["schemas"]["ProbeDay"][];
            last: components["schemas"]["Probe"];
            /** @description Nearest rank; a probe that failed counts as having taken 10,000 ms */
            latency_p50_ms: number | null;
            latency_p95_ms: number | null;
            /** @description Visits; a failed one to an endpoint that is visited hourly, having failed for a day, counts for each of the four quarter hours */
            probes: number;
            /**
             * @description regular: probed every quarter of an hour. in_turns: probed less often, since its domain has more endpoints than are probed. none: not probed at present, because it is new or beyond the limit of one account or of all. An endpoint that is not probed is unknown and does not count as a failure
             * @enum {string}
             */
            probing: "regular" | "in_turns" | "none";
            services: {
                agent_id: string;
                name: string;
                /**
                 * @description Null for the ERC-8004 identity registry that the index follows
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                registry: string | null;
                version: string | null;
            }[];
            url: string;
            validity: number | null;
        };
        Epoch: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            created_at: string;
            /** @example 20777 */
            epoch: number;
            leaves: {
                /** @description Sibling hashes from the leaf up, as verify takes them */
                proof: string[];
                /**
                 * @description The record as the oracle packs it
                 * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
                 */
                record: string;
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                wallet: string;
            }[];
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            root: string;
        };
        /** @description A call of a smart account that failed; its operation is its client's to build again */
        FailedExecution: {
            /** @example 48210 */
            block: number;
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            hash: string;
            /** @description Place within the transaction that carried it */
            position: number;
            /** @example 0x322e9f04 */
            selector: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            time: string;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            to: string | null;
        };
        FailedTransaction: {
            /** @example 48210 */
            block: number;
            /**
             * @description out_of_gas: 98% of the gas limit and more were used, as /health and the score have it. slippage: a revert by which the contract says that a price moved
             * @example reverted
             * @enum {string}
             */
            cause: "out_of_gas" | "slippage" | "reverted";
            /**
             * @description What the contract said, by making the call again on the state before its block; null where it gave no reason, or the node has that state no more. The contract chose this text.
             * @example InsufficientBalance()
             */
            cause_reason: string | null;
            /**
             * @description Whether what a rollup charged is known: false for blocks that are not final and read yet, whose fee is without it
             * @example true
             */
            fee_complete: boolean;
            /**
             * @description What the failure cost: gas used at its price, and what a rollup charged for posting it
             * @example 2411368784000
             */
            fee_wei: string;
            /** @example 90000 */
            gas_limit: string;
            /** @example 24112 */
            gas_used: string;
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            hash: string;
            /**
             * @description By its calldata; null where that is not known
             * @example other
             * @enum {string|null}
             */
            intent: "transfer" | "approval" | "swap" | "other" | null;
            /**
             * @description Null, like intent, if only a history source reported it
             * @example 409
             */
            nonce: number | null;
            /**
             * @description Null for a plain transfer
             * @example 0x322e9f04
             */
            selector: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            time: string;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            to: string | null;
            /**
             * @description Wei, decimal
             * @example 0
             */
            value: string;
        };
        FailureGroup: {
            /** @example 30 */
            attempts: number;
            /** @enum {string} */
            cause: "out_of_gas" | "reverted";
            /**
             * @description Null for contract creations and unknown targets
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            contract: string | null;
            /**
             * @description Name that the deployment gives the contract; null for a contract that it does not name
             * @example Uniswap v4 universal router
             */
            contract_name: string | null;
            /** @example 3 */
            failures: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            first_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            last_at: string;
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            last_tx_hash: string;
            /**
             * @description Most failures of this contract and method in a row
             * @example 1
             */
            longest_run: number;
            /**
             * @description Usual signature of the selector
             * @example execute(bytes,bytes[],uint256)
             */
            method: string | null;
            /**
             * @description Null for plain transfers
             * @example 0x3593564c
             */
            selector: string | null;
            /** @example true */
            succeeded_since: boolean;
            wasted: components["schemas"]["GasMoney"];
        };
        Feature: {
            /**
             * @description Points of the dimension. Of one dimension the contributions and its `adjustments` add up to the dimension score
             * @example 26.92
             */
            contribution: number | null;
            /** @enum {string} */
            dimension: "D1" | "D2" | "D3";
            /**
             * @description Named numbers behind the value: counts, raw shares, estimates (`estimated_`) and points of parts
             * @example {
             *       "calls": 224,
             *       "succeeded": 217,
             *       "succeeded_share": 0.969,
             *       "estimated_share": 0.963
             *     }
             */
            inputs: {
                [key: string]: number;
            };
            /** @example success_rate */
            name: string;
            /**
             * @description Why the feature is not measured
             * @example null
             */
            reason: string | null;
            /** @example 224 */
            samples: number;
            /**
             * @description The measurement in one sentence. Counts are of what happened; the score uses estimates, see `value` and `inputs`
             * @example 217 of 224 calls to others succeeded (96.9%)
             */
            says: string;
            /**
             * @description 0 to 100; null if not measured
             * @example 89.71
             */
            score: number | null;
            /** @enum {string} */
            state: "measured" | "not_applicable" | "unknown";
            /** @example Success rate */
            title: string;
            /** @example share of calls */
            unit: string;
            /**
             * @description What the curve of the feature reads, in `unit`: an estimate if the calls are few
             * @example 0.9634
             */
            value: number | null;
            /**
             * @description Share of the dimension, before the weights of unmeasured features are shared out
             * @example 0.3
             */
            weight: number;
        };
        FoundAgents: {
            agents: {
                /**
                 * @description The agent's wallet, EIP-55; null if it has none
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                address: string | null;
                /**
                 * @description Number in its registry
                 * @example 142
                 */
                agent_id: string;
                /**
                 * @description Grade of the wallet's newest score; null without a score
                 * @example B
                 * @enum {string|null}
                 */
                grade: "A" | "B" | "C" | "D" | "E" | "F" | null;
                /**
                 * @description From the agent's own registration document, unverified; null if none was read
                 * @example keeper 1
                 */
                name: string | null;
                /** @description The registry that numbers the agent */
                registry: {
                    /**
                     * @description Contract, EIP-55
                     * @example 0x8004A818BFB912233c491871b3d84c89A494BD9e
                     */
                    address: string | null;
                    /**
                     * @description As the service calls it
                     * @example ERC-8004 identity registry
                     */
                    name: string;
                };
            }[];
            /** @description Whether more agents match than are listed */
            is_cut: boolean;
        };
        /** @description Native coin; its worth at the daily prices of the days on which it was paid */
        GasMoney: {
            /**
             * @description The same in whole coins, exactly
             * @example 0.000002411368784
             */
            eth: string;
            /**
             * @description US dollars; null where nothing prices it, which is not zero
             * @example 0.007234
             */
            value_usd: number | null;
            /**
             * @description Wei, decimal
             * @example 2411368784000
             */
            wei: string;
        };
        /** @description Upper bound of what would have cost less; the kinds share no fee */
        GasSaving: {
            /** @example 2 */
            calls: number;
            /**
             * @description simulate_first: fees of reverted calls. set_gas_limit: fees of calls that used up their limit. pay_market_price: what successful calls paid above the base fee plus the median tip of their block
             * @enum {string}
             */
            kind: "simulate_first" | "set_gas_limit" | "pay_market_price";
            /**
             * @description The saving x 30 / window_days, rounded down
             * @example 0.24
             */
            saves_usd_per_month: number | null;
            saving: components["schemas"]["GasMoney"] & unknown;
        };
        /**
         * @description Null for a wallet without enough history
         * @example B
         * @enum {string|null}
         */
        Grade: "A" | "B" | "C" | "D" | "E" | "F" | null;
        GradeChangedEvent: {
            data: {
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                address: string;
                /** @example 48210 */
                as_of_block: number;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                as_of_time: string;
                /** @example 8453 */
                chain_id: number;
                /** @example 0.81 */
                confidence: number;
                confidence_level: components["schemas"]["ConfidenceLevel"];
                current: components["schemas"]["ScoreState"] & unknown;
                /**
                 * @description Of the record that shows the change
                 * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
                 */
                inputs_hash: string;
                previous: components["schemas"]["ScoreState"];
                /** Format: uuid */
                subscription_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "ahs.grade_changed";
        };
        HealthReport: {
            account: {
                /**
                 * @description EIP-55 address
                 * @example null
                 */
                delegates_to: string | null;
                /** @description Whether it has code, including a delegation; null if unknown */
                is_contract: boolean | null;
                /** @enum {string} */
                kind: "eoa" | "delegated_eoa" | "smart_account" | "unknown";
                /** @example null */
                note: string | null;
            };
            /** @description Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped */
            accounts_left_out?: number;
            /** @description From the week of the first known call on, if it is in the window */
            activity_by_week: {
                /** @example 7 */
                calls: number;
                /** @example 3 */
                failures: number;
                spent: components["schemas"]["GasMoney"];
                /**
                 * Format: date
                 * @description Its Monday, UTC
                 * @example 2026-11-16
                 */
                week: string;
            }[];
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 8453 */
            chain_id: number;
            coverage: components["schemas"]["Coverage"];
            failures: {
                /** @description The dearest first, at most 200 */
                by_method: components["schemas"]["FailureGroup"][];
                left_out: number;
                /** @description Calls that used 98% of their gas limit or more */
                out_of_gas: {
                    /** @example 3 */
                    failures: number;
                    wasted: components["schemas"]["GasMoney"];
                };
                /** @description Always null: receipts hold no revert reason */
                revert_reasons: null;
                /** @description All other failures */
                reverted: {
                    /** @example 3 */
                    failures: number;
                    wasted: components["schemas"]["GasMoney"];
                };
            };
            /** @description Null where no own call is known */
            first_seen: {
                /** @example 48210 */
                block: number;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                time: string;
                /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                tx_hash: string;
            } | null;
            gas: {
                spent: components["schemas"]["GasMoney"];
                spent_per_month: components["schemas"]["GasMoney"];
                wasted: components["schemas"]["GasMoney"] & unknown;
                wasted_per_month: components["schemas"]["GasMoney"];
                /**
                 * @description 0 to 1; null of nothing
                 * @example 0.081285
                 */
                wasted_share: number | null;
                /**
                 * @description Days that monthly amounts are spread over: since the first call, at least 30
                 * @example 30
                 */
                window_days: number;
            };
            /** @description Null where no own call is known */
            last_seen: {
                /** @example 48210 */
                block: number;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                time: string;
                /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                tx_hash: string;
            } | null;
            /** @description Open approvals without limit, the riskiest first; null if not read */
            open_approvals: components["schemas"]["OpenApproval"][] | null;
            /** @example null */
            open_approvals_reason: string | null;
            portfolio: components["schemas"]["Portfolio"];
            prices: components["schemas"]["ReportPrices"];
            /** @description By severity, then the largest saving first; at most 100 */
            recommendations: components["schemas"]["Recommendation"][];
            /**
             * @description The result in one or two sentences
             * @example 27 of 30 calls succeeded in 180 days. Failures cost 0.24 USD. 2 recommendations.
             */
            summary: string;
            totals: {
                /** @example 30 */
                calls: number;
                /** @example 3 */
                failures: number;
                /**
                 * @description 0 to 1; null of nothing
                 * @example 0.9
                 */
                success_rate: number | null;
                /** @example 27 */
                successes: number;
                /** @description Calls whose receipts were not read: what they did is not known, nor what a rollup charged for posting them */
                unread_receipts: number;
            };
            window: components["schemas"]["ReportWindow"];
        };
        HistoryEntry: {
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 0.81 */
            confidence: number;
            confidence_level: components["schemas"]["ConfidenceLevel"];
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            d1_score: number | null;
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            d2_score: number | null;
            grade: components["schemas"]["Grade"];
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            inputs_hash: string;
            /** @example AHS-2026.2 */
            model_version: string;
        };
        /** @description All faults of the request, in the order of its fields */
        HTTPValidationError: {
            detail?: components["schemas"]["ValidationError"][];
        };
        /** @description The http(s) endpoints that the wallet's agents declare in their ERC-8004 registration documents, by the probes of the last seven days. With at least 20 probes over 24 hours the answer's mode is 3D: 0.25 D1 + 0.45 D2 + 0.30 D3. Stored, published and routed scores stay 2D. A declared endpoint is not proven to be the agent's: a document may declare any URL, and a probe shows that the URL answers, not who runs it */
        Infrastructure: {
            agent_url: components["schemas"]["AgentUrl"];
            agents: components["schemas"]["AgentDocument"][];
            /** @description Share of the probes that were answered as by a service that is up */
            availability: number | null;
            endpoints: components["schemas"]["Endpoint"][];
            /** @description More than are shown and scored, where over 50 */
            endpoints_declared: number;
            /** @description Share of the probes that failed in any way */
            error_rate: number | null;
            /** @description Nearest rank; a probe that failed counts as having taken 10,000 ms */
            latency_p50_ms: number | null;
            latency_p95_ms: number | null;
            /** @description Visits; a failed one to an endpoint that is visited hourly, having failed for a day, counts for each of the four quarter hours */
            probes: number;
            /** @description Why there is no d3_score */
            reason: string | null;
            /** @description Share of conclusive probes with a correct answer */
            validity: number | null;
            window: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                to: string;
            };
        };
        KeySelf: {
            /**
             * @description Null: unlimited
             * @example 25
             */
            balance_usd: number | null;
            /**
             * @description The wallet that paid for it; null if it was not bought
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            bought_by: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: never
             * @example null
             */
            expires_at: string | null;
            /** Format: uuid */
            key_id: string;
            /**
             * @description First characters of the key, which identify it in lists
             * @example ahs_Zk3vQ9aB
             */
            key_prefix: string;
            /** @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc */
            name: string;
            partner: boolean;
            /**
             * @description Calls that the key may make in a minute
             * @example 600
             */
            rate_per_minute: number;
            spent: components["schemas"]["KeySpending"];
        };
        /** @description What answered calls cost in the last 30 days, the dearest endpoint first; a key without a limit is never charged */
        KeySpending: {
            endpoints: {
                calls: number;
                /** @example GET /ahs/{address} */
                endpoint: string;
                /** @example 1 */
                spent_usd: number;
            }[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            to: string;
            /** @example 1.12 */
            total_usd: number;
        };
        LabelProvider: {
            /** @example true */
            available: boolean;
            /** @example nansen */
            provider: string;
            /**
             * Format: date-time
             * @description When it was asked; its answer is kept for a day
             * @example 2026-11-20T09:58:00.000Z
             */
            read_at: string | null;
            /**
             * @description Why its labels are missing; broken: it failed too often to be asked now
             * @example null
             * @enum {string|null}
             */
            reason: "timeout" | "unconnected" | "unavailable" | "rate_limited" | "refused" | "malformed" | "broken" | null;
        };
        MethodGas: {
            /** @example 30 */
            calls: number;
            /**
             * @description Null for contract creations and unknown targets
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            contract: string | null;
            /**
             * @description Name that the deployment gives the contract; null for a contract that it does not name
             * @example Uniswap v4 universal router
             */
            contract_name: string | null;
            /** @example 3 */
            failures: number;
            gas_limit: {
                /**
                 * @description Units of gas, decimal
                 * @example 250000
                 */
                highest_limit: string | null;
                /**
                 * @description Units of gas, decimal
                 * @example 250000
                 */
                highest_limit_that_ran_out: string | null;
                /**
                 * @description Units of gas, decimal
                 * @example 250000
                 */
                max_used: string | null;
                /**
                 * @description Units of gas, decimal
                 * @example 250000
                 */
                median_limit: string | null;
                /** @example 1.388 */
                median_limit_over_p95_used: number | null;
                /**
                 * @description Units of gas, decimal
                 * @example 250000
                 */
                p50_used: string | null;
                /**
                 * @description Units of gas, decimal
                 * @example 250000
                 */
                p95_used: string | null;
                /** @example The gas limit suits the calls. */
                reason: string;
                /**
                 * @description Successful calls, which the percentiles are of
                 * @example 27
                 */
                samples: number;
                /** @description Fewer than 20: p95 is the maximum */
                small_sample: boolean;
                /** @enum {string} */
                state: "fits" | "generous" | "too_low" | "unknown";
                /**
                 * @description 125% of the most gas that a successful call used, or of the highest limit that ran out if that is higher, rounded up
                 * @example 312500
                 */
                suggested_limit: string | null;
            };
            /**
             * @description Usual signature of the selector
             * @example execute(bytes,bytes[],uint256)
             */
            method: string | null;
            /** @description Paid per gas above base fee plus median tip of the call's own block, including failed calls; null if the blocks are unknown */
            overpaid: components["schemas"]["GasMoney"] | null;
            /**
             * @description Calls with known base fee and median tip of their block
             * @example 30
             */
            overpaid_known_calls: number;
            /**
             * @description Their upper bound for 30 days
             * @example 0.24
             */
            saves_usd_per_month: number | null;
            saving: components["schemas"]["GasMoney"] & unknown;
            savings: components["schemas"]["GasSaving"][];
            /**
             * @description Null for plain transfers
             * @example 0x3593564c
             */
            selector: string | null;
            spent: components["schemas"]["GasMoney"];
            wasted: components["schemas"]["GasMoney"] & unknown;
        };
        NetworkEdge: {
            /**
             * @description Null where the link is no call
             * @example 36
             */
            calls: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            first_seen: string | null;
            /** @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc */
            from: string;
            /**
             * @description funded: was the first to send it value. created: deployed it. shares_funder: has the same creator or first funder, which is no public one. paid: sent it something with a price. called: called it, and sent nothing with a price
             * @example paid
             * @enum {string}
             */
            kind: "funded" | "created" | "shares_funder" | "paid" | "called";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            last_seen: string | null;
            /** @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc */
            to: string;
            /**
             * @description Sent at the prices of the days; null where nothing with a price is known to be
             * @example 490.038991
             */
            volume_usd: number | null;
        };
        NetworkMap: {
            /** @description Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped */
            accounts_left_out?: number;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 8453 */
            chain_id: number;
            /**
             * @description The wallet's own
             * @example null
             */
            cluster: string | null;
            /**
             * @description Nodes of the wallet's cluster, itself included
             * @example 1
             */
            cluster_size: number;
            coverage: components["schemas"]["Coverage"];
            edges: components["schemas"]["NetworkEdge"][];
            left_out: {
                /** @description True where accounts have more links than are read: then more is left out than counted */
                at_least: boolean;
                /** @description Among the nodes shown */
                edges: number;
                nodes: number;
            };
            /** @description The wallet first, then as they were chosen */
            nodes: components["schemas"]["NetworkNode"][];
            truncated: boolean;
            window: components["schemas"]["ReportWindow"];
        };
        NetworkNode: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /**
             * @description Lowest address of the accounts that share its owner, by common creators, first funders or mutual funding; null where nothing links it to another
             * @example null
             */
            cluster: string | null;
            /** @example [] */
            flags: ("sanctioned" | "mixer")[];
            grade: components["schemas"]["Grade"];
            /** @description 0 is the wallet itself */
            hops: number;
            /**
             * @description What edges name it by: its address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            id: string;
            /**
             * @description Null if not known
             * @example false
             */
            is_contract: boolean | null;
            /**
             * @description agent: the wallet of a registered one. public_funder: an exchange, bridge or faucet, which creates no links. unknown: no source knows whether it has code
             * @enum {string}
             */
            kind: "agent" | "account" | "contract" | "token" | "public_funder" | "unknown";
            /** @description The most trustworthy first */
            labels: components["schemas"]["ChainLabel"][];
            /**
             * @description Best name known: the first of `labels`; null without any
             * @example Agent 17: Delta keeper
             */
            name: string | null;
        };
        /** @description An open approval without limit */
        OpenApproval: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            approved_at: string;
            /**
             * @description erc20_allowance: unlimited allowance of an ERC-20 token. approval_for_all: every token of an ERC-721 or ERC-1155 collection
             * @enum {string}
             */
            kind: "erc20_allowance" | "approval_for_all";
            /**
             * Format: date-time
             * @description Last own call that used it or may have; null where none is known. Silence counts as disuse only where use_known
             * @example null
             */
            last_used_at: string | null;
            /**
             * @example [
             *       "young",
             *       "unknown"
             *     ]
             */
            risks: ("flagged" | "no_code" | "young" | "unknown" | "unused")[];
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            spender: string;
            /** @description Null where nothing is known of the spender */
            spender_facts: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                existed_at: string | null;
                /**
                 * @example null
                 * @enum {string|null}
                 */
                flag: "sanctioned" | "mixer" | null;
                is_contract: boolean | null;
                /**
                 * @description Independent users in the window, counted up to 30
                 * @example 1
                 */
                outside_users: number;
                /** @description Whether it belongs to the wallet's owner */
                own: boolean;
            } | null;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            token: string;
            /** @description Whether a use in the last 90 days would be known */
            use_known: boolean;
        };
        OptimizeReport: {
            /** @description Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped */
            accounts_left_out?: number;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 8453 */
            chain_id: number;
            /**
             * @description False if there was nothing to do: then neither a key nor a payment was charged
             * @example true
             */
            charged: boolean;
            coverage: components["schemas"]["Coverage"];
            /** @description The largest saving first, at most 500 */
            methods: components["schemas"]["MethodGas"][];
            /**
             * @description Sums of the methods that are left out; null where none are
             * @example null
             */
            other_methods: {
                /** @example 30 */
                calls: number;
                /** @example 3 */
                failures: number;
                methods: number;
                /** @description Paid per gas above base fee plus median tip of the call's own block, including failed calls; null if the blocks are unknown */
                overpaid: components["schemas"]["GasMoney"] | null;
                /**
                 * @description Calls with known base fee and median tip of their block
                 * @example 30
                 */
                overpaid_known_calls: number;
                /**
                 * @description Their upper bound for 30 days
                 * @example 0.24
                 */
                saves_usd_per_month: number | null;
                saving: components["schemas"]["GasMoney"] & unknown;
                spent: components["schemas"]["GasMoney"];
                wasted: components["schemas"]["GasMoney"] & unknown;
            } | null;
            prices: components["schemas"]["ReportPrices"];
            /** @description The largest saving first, at most 100; none below 0.01 USD a month */
            recommendations: components["schemas"]["Recommendation"][];
            /**
             * @description Savings below 0.01 USD a month each
             * @example {
             *       "count": 0,
             *       "saves_usd_per_month": 0
             *     }
             */
            smaller_savings: {
                count: number;
                /**
                 * @description US dollars; null where nothing prices it, which is not zero
                 * @example 12.5
                 */
                saves_usd_per_month: number | null;
            };
            /**
             * @description The result in one or two sentences
             * @example 1 recommendation saves at most 0.24 USD a month.
             */
            summary: string;
            /** @description Exact sums of all methods, in wei */
            totals: {
                /** @example 30 */
                calls: number;
                /** @example 3 */
                failures: number;
                methods: number;
                /** @description Paid per gas above base fee plus median tip of the call's own block, including failed calls; null if the blocks are unknown */
                overpaid: components["schemas"]["GasMoney"] | null;
                /**
                 * @description Calls with known base fee and median tip of their block
                 * @example 30
                 */
                overpaid_known_calls: number;
                /**
                 * @description Their upper bound for 30 days
                 * @example 0.24
                 */
                saves_usd_per_month: number | null;
                saving: components["schemas"]["GasMoney"] & unknown;
                spent: components["schemas"]["GasMoney"];
                wasted: components["schemas"]["GasMoney"] & unknown;
            };
            window: components["schemas"]["ReportWindow"];
            /**
             * @description Days that monthly amounts are spread over: since the first call of the window, at least 30
             * @example 30
             */
            window_days: number;
        };
        OwedPayment: {
            /**
             * @description What was paid
             * @example 1
             */
            amount_usd: number;
            /**
             * @description Method and path of what was bought
             * @example GET /ahs/{address}
             */
            endpoint: string;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            payer: string;
            /**
             * @description Path of the request, without its query
             * @example /ahs/0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            resource: string;
            /**
             * @description Scheme of x402; exact-permit2: exact, by a Permit2 transfer
             * @enum {string}
             */
            scheme: "exact" | "exact-permit2" | "upto" | "auth-capture" | "batch-settlement";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            settled_at: string;
            /**
             * @description Null for a voucher
             * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
             */
            transaction_hash: string | null;
        };
        OwedPayments: {
            /** @description Newest first, at most 100 */
            owed: components["schemas"]["OwedPayment"][];
        };
        OwnerCluster: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 8453 */
            chain_id: number;
            left_out: {
                /** @description True where accounts have more links than are read: then more may be left out */
                at_least: boolean;
                /**
                 * @description Followed wallets that were found and not examined
                 * @example 0
                 */
                wallets: number;
            };
            /**
             * @description What the links prove
             * @example Links by creator, first funder or mutual funding are evidence of one owner, not proof: a service may create or fund wallets of different owners.
             */
            note: string;
            summary: {
                /**
                 * @description Wallets by grade; none: not scored, or without enough history
                 * @example {
                 *       "A": 0,
                 *       "B": 1,
                 *       "C": 0,
                 *       "D": 0,
                 *       "E": 0,
                 *       "F": 0,
                 *       "none": 0
                 *     }
                 */
                grades: {
                    A: number;
                    B: number;
                    C: number;
                    D: number;
                    E: number;
                    F: number;
                    none: number;
                };
                /**
                 * @description Sum of the known safe amounts; null if none is known. One owner may fail with all of them at once
                 * @example 42.5
                 */
                safe_amount_usd: number | null;
                /**
                 * @description Wallets on a sanctions list
                 * @example 0
                 */
                sanctioned: number;
                /**
                 * @description Wallets listed
                 * @example 1
                 */
                wallets: number;
                worst_grade: components["schemas"]["Grade"] & unknown;
            };
            /** @description Whether more wallets are linked than are listed */
            truncated: boolean;
            /** @description Followed wallets of the owner cluster: the wallet itself first, then the nearest */
            wallets: components["schemas"]["OwnerWallet"][];
        };
        OwnerWallet: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @description The first three agents that it acts for, of all registries */
            agents: {
                /**
                 * @description Number in its registry
                 * @example 142
                 */
                agent_id: string;
                /**
                 * @description From the agent's own registration document, unverified; null if none was read
                 * @example keeper 1
                 */
                name: string | null;
                /** @description The registry that numbers the agent */
                registry: {
                    /**
                     * @description Contract, EIP-55
                     * @example 0x8004A818BFB912233c491871b3d84c89A494BD9e
                     */
                    address: string | null;
                    /**
                     * @description As the service calls it
                     * @example ERC-8004 identity registry
                     */
                    name: string;
                };
            }[];
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /** @example 0.81 */
            confidence: number;
            confidence_level: components["schemas"]["ConfidenceLevel"];
            /**
             * @description The links from it to the wallet that was asked about, step by step
             * @example []
             */
            evidence: {
                /**
                 * @description The account that created or first funded `to`; of mutual funding, either of the two
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                from: string;
                /** @enum {string} */
                kind: "creator" | "first_funder" | "mutual_funding";
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                to: string;
            }[];
            grade: components["schemas"]["Grade"];
            /**
             * Format: date-time
             * @description Last own call in the index; null without one
             * @example 2026-11-20T09:58:00.000Z
             */
            last_active_at: string | null;
            /**
             * @description What links it to the owner cluster; itself: the wallet that was asked about
             * @enum {string}
             */
            owner_link: "itself" | "creator" | "first_funder" | "mutual_funding";
            /**
             * @description Its safe amount, before what is outstanding; null while it is unknown
             * @example 42.5
             */
            safe_amount_usd: number | null;
            /** @description Whether it is on a sanctions list at the newest indexed block */
            sanctioned: boolean;
            /**
             * Format: date-time
             * @description Time of the block that the score is as of
             * @example 2026-11-20T09:58:00.000Z
             */
            scored_at: string | null;
            /** @description The score is older than 24 hours; null without one */
            stale: boolean | null;
            trust_routing: components["schemas"]["RoutingAction"] & unknown;
        };
        /** @description By eth_estimateGas, and by eth_call with the offered gas limit */
        PassedSimulation: {
            /** @example 48210 */
            block: number;
            /** @example 48100 */
            gas_estimate: string;
            /** @enum {boolean} */
            passes: true;
        };
        Pattern: {
            /** @description Points taken from the score */
            effect: number;
            /** @example 217 of 224 calls to others succeeded; estimated success 96.3% */
            evidence: string;
            /** @example healthy_operator */
            name: string;
            /**
             * @description The one scale of all findings
             * @example warning
             * @enum {string}
             */
            severity: "info" | "warning" | "critical";
        };
        /** @description The terms of x402 version 2 */
        PaymentRequired: {
            accepts: ({
                /** @description In the token's smallest unit */
                amount: string;
                /** @description Contract of the token */
                asset: string;
                maxTimeoutSeconds: number;
                /** @description CAIP-2 */
                network: string;
                payTo: string;
                /** @enum {string} */
                scheme: "exact" | "upto" | "auth-capture" | "batch-settlement";
            } & {
                [key: string]: unknown;
            })[];
            /** @description Why the request was not served */
            error?: string;
            /** @description `payment-identifier`; `bazaar`: the input and an example of the answer; `offer-receipt`: the entries of `accepts`, signed */
            extensions?: {
                [key: string]: unknown;
            };
            resource: {
                url: string;
            } & {
                [key: string]: unknown;
            };
            /** @enum {number} */
            x402Version: 2;
        } & {
            [key: string]: unknown;
        };
        /** @description Profit and loss by the wallet's own calls */
        Pnl: {
            /** @description Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped */
            accounts_left_out?: number;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 8453 */
            chain_id: number;
            coverage: components["schemas"]["Coverage"];
            /**
             * @description Paid for all own calls, and in neither result
             * @example 12.6
             */
            fees_usd: number | null;
            /** @description Sales that lost a cent or more */
            losses: number;
            /**
             * @description FIFO lots over the tokens that the wallet's own calls moved. A trade is worth what the daily feed prices say of the side that moves least, else of the side that they price; a token that came for nothing costs what it was worth on its day; payments and deposits leave at their cost, with which they come back from the same contract. Beside a priced leg, one without a price of a token on no list is worth nothing. Tokens always priced within 5% of one US dollar are money: they have no sale, cost or gain of their own. Native coin is no token here.
             * @enum {string}
             */
            method: "fifo-1";
            /**
             * @description 0 where nothing was sold; null where something was and no gain is known
             * @example 500
             */
            realised_usd: number | null;
            /** @description Times that a token came back from the contract that it had been sent to: it costs what it had cost before */
            returns: number;
            /**
             * @description Times that a trade gave a token that is no currency: spending money is no sale
             * @example 1
             */
            sales: number;
            /** @example 1 */
            token_count: number;
            /** @description The largest results first, at most 50 */
            tokens: components["schemas"]["TokenPnl"][];
            /**
             * @description Calls that gave something and got tokens for it
             * @example 3
             */
            trades: number;
            /** @description Purchases and sales without a known price or, in part at least, a known cost, among all those of tokens that are no currency */
            unpriced_share: number | null;
            /** @description Successful calls whose receipts were not read: what they moved is not known */
            unread_receipts: number;
            /**
             * @description Of tokens that a feed prices; fees are not in it
             * @example 500
             */
            unrealised_usd: number | null;
            /**
             * @description Wins among wins and losses
             * @example 1
             */
            win_rate: number | null;
            window: components["schemas"]["ReportWindow"];
            /**
             * @description Sales that gained a cent or more
             * @example 1
             */
            wins: number;
            /** @description Transfers within trades that count as worth 0: of unlisted tokens without a price, beside a token with a price */
            zero_valued_transfers: number;
        };
        /** @description Tokens that the wallet's own calls of the 180 days before its last one brought in, less what they took out. It omits transfers by others, earlier holdings and the native coin. Values are those of the day of the last own call */
        Portfolio: {
            holdings: {
                /**
                 * @description In the token's smallest unit, decimal
                 * @example 108000000
                 */
                amount: string;
                /** @example 6 */
                decimals: number | null;
                /** @enum {string|null} */
                priced_by: "feed" | "own_trade" | null;
                /** @example true */
                recognised: boolean;
                /**
                 * @description Of the token list; null for others
                 * @example USDC
                 */
                symbol: string | null;
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                token: string;
                /**
                 * @description US dollars; null where nothing prices it, which is not zero
                 * @example 108
                 */
                value_usd: number | null;
            }[];
            /**
             * @description Of the other holdings, by what the wallet itself gave for them: a wallet that trades with itself can make it anything
             * @example null
             */
            other_usd: number | null;
            /** @example null */
            reason: string | null;
            /** @enum {string} */
            state: "held" | "none" | "unread";
            /**
             * @description Of recognised holdings that a feed prices; null where none is held, or nothing was read
             * @example 108
             */
            total_usd: number | null;
            unpriced_tokens: number | null;
        };
        PremiumRisk: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /**
             * @description Block of the score; null without one
             * @example 48210
             */
            as_of_block: number | null;
            /** @example 8453 */
            chain_id: number;
            /** @example 0.81 */
            confidence: number;
            confidence_level: components["schemas"]["ConfidenceLevel"];
            counterparty_exposure: components["schemas"]["CounterpartyExposure"];
            /**
             * @description Why counterparty_exposure is null
             * @example null
             * @enum {string|null}
             */
            counterparty_exposure_reason: "not_followed" | "no_contacts" | null;
            grade: components["schemas"]["Grade"];
            label_providers: components["schemas"]["LabelProvider"][];
            /** @description The chain's own first */
            labels: components["schemas"]["WalletLabel"][];
            /**
             * @description Whether every third-party provider answered, and there is one: if not, nothing follows from the absence of a label
             * @example true
             */
            labels_available: boolean;
            /**
             * @description Why labels_available is false: no third party is configured, or one did not answer, see label_providers
             * @example null
             * @enum {string|null}
             */
            labels_unavailable_reason: "no_provider_configured" | "provider_failed" | null;
            pnl: components["schemas"]["Pnl"];
            /**
             * @description listed_counterparties: without a score of its own, the least that the share to listed accounts makes of it
             * @enum {string}
             */
            reason: "scored" | "insufficient_history" | "not_scored" | "listed_counterparties" | "sanctioned";
            /**
             * @description One of each kind of threat; exposure_listed: part of what it sent went to listed accounts
             * @example []
             */
            reason_codes: ("listed_phishing" | "listed_scam" | "listed_mixer" | "listed_exploit" | "exposure_listed")[];
            /**
             * @description LOW up to 25, grades A and B; MEDIUM up to 40, grade C; HIGH up to 80, grades D and E; CRITICAL above, grade F; UNKNOWN without a score, unless the share to listed accounts alone determines a level
             * @enum {string}
             */
            risk_level: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL" | "UNKNOWN";
            /**
             * @description 100 is the worst; null where too little is known, which is no sign of risk
             * @example 16
             */
            risk_score: number | null;
            /**
             * @description Newest indexed block, at which lists were looked up
             * @example 48210
             */
            sanctions_as_of_block: number;
            /** @example [] */
            sanctions_flags: components["schemas"]["SanctionsFlag"][];
            /**
             * Format: date-time
             * @description Time of the block that the score is as of
             * @example 2026-11-20T09:58:00.000Z
             */
            scored_at: string | null;
            /** @description The worst first */
            signals: components["schemas"]["RiskSignal"][];
            /** @description The score is older than 24 hours; null without one */
            stale: boolean | null;
            /**
             * @description Lists of phishing, scam, mixer and exploit addresses that the operator imported and the wallet is on. They change no score; `threat_action` of a routing policy decides what they do to a payment
             * @example []
             */
            threats: components["schemas"]["Threat"][];
            /** @example Low risk: 12.4% of its fees were spent on failed calls, gas prices 100 of 100. */
            verdict: string;
        };
        Probe: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            at: string;
            detail: string | null;
            /** @example 198 */
            latency_ms: number | null;
            outcome: components["schemas"]["ProbeOutcome"];
            /** @example 200 */
            status: number | null;
            /** @description Whether it served what its kind of service must; null where nothing can be said */
            valid: boolean | null;
        } | null;
        ProbeDay: {
            /** @description Share of the probes that were answered as by a service that is up */
            availability: number | null;
            /**
             * Format: date
             * @description UTC
             */
            day: string;
            /** @description Share of the probes that failed in any way */
            error_rate: number | null;
            /** @description Nearest rank; a probe that failed counts as having taken 10,000 ms */
            latency_p50_ms: number | null;
            latency_p95_ms: number | null;
            /** @description Visits; a failed one to an endpoint that is visited hourly, having failed for a day, counts for each of the four quarter hours */
            probes: number;
        };
        /**
         * @description ok: answered as by a service that is up, 401, 402 and 403 included. error: 404, 410, 5xx or no valid HTTP. timeout, unreachable: no answer. refused: a target that is never fetched, such as a private address
         * @enum {string}
         */
        ProbeOutcome: "ok" | "error" | "timeout" | "unreachable" | "refused";
        /** @description RFC 9457 problem details */
        Problem: {
            /** @description Of a payment that is held or has moved: send it back in X-Payment-Claim */
            claim?: string;
            /** @description What was given and what was expected */
            detail: string;
            /** @description Path of the request */
            instance: string;
            request_id: string;
            status: number;
            title: string;
            /** @description Where the problem is explained, on this host or at IANA */
            type: string;
            /** @description Limits of RateLimit-Policy that were exceeded */
            "violated-policies"?: string[];
        };
        Protection: {
            /** @description Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped */
            accounts_left_out?: number;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 8453 */
            chain_id: number;
            /**
             * @description False if there was nothing to do: then neither a key nor a payment was charged
             * @example true
             */
            charged: boolean;
            /** @description Everything that was checked */
            checks: components["schemas"]["ProtectionCheck"][];
            coverage: components["schemas"]["Coverage"];
            /**
             * @description Of the first of them; they follow one another
             * @example 412
             */
            first_nonce: number;
            monitoring: components["schemas"]["ProtectionMonitoring"];
            /** @description Failures that are not offered, newest first */
            not_retried: components["schemas"]["RefusedRetry"][];
            /**
             * @description LOW up to 25, grades A and B; MEDIUM up to 40, grade C; HIGH up to 80, grades D and E; CRITICAL above, grade F; UNKNOWN without a score, unless the share to listed accounts alone determines a level
             * @enum {string}
             */
            risk_level: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL" | "UNKNOWN";
            /**
             * @description 100 is the worst; null where too little is known, which is no sign of risk
             * @example 16
             */
            risk_score: number | null;
            /**
             * @description Upper bound of all gas savings together, those below 0.10 USD included; null without a price
             * @example 0.24
             */
            saves_usd_per_month: number | null;
            simulated_at: components["schemas"]["SimulatedAt"];
            /**
             * @description Whether all transactions also passed a simulation one after the other; false if the node cannot simulate that, null without transactions
             * @example true
             */
            simulated_in_order: boolean | null;
            /** @description Transactions to sign in the order of their nonces, then what makes others reject the wallet or endangers its funds, then gas savings of 0.10 USD a month or more, then untidiness */
            steps: components["schemas"]["ProtectionStep"][];
            /**
             * @description The plan in two or three sentences: what can be signed, what comes first otherwise, and how many checks passed
             * @example 2 transactions can be signed now; tokens worth 120.00 USD are at stake. 9 of 11 checks passed.
             */
            summary: string;
            /**
             * @description US dollars; null where nothing prices it, which is not zero
             * @example 0.012027
             */
            total_max_cost_usd: number | null;
            /**
             * @description Wei, decimal
             * @example 6013441764000
             */
            total_max_cost_wei: string;
            /**
             * @description Steps that can be signed now
             * @example 1
             */
            transactions: number;
            /** @example Low risk: 12.4% of its fees were spent on failed calls, gas prices 100 of 100. */
            verdict: string;
            window: components["schemas"]["ReportWindow"];
        };
        ProtectionCheck: {
            /**
             * @description Findings; null if they are not known
             * @example 0
             */
            found: number | null;
            /** @enum {string} */
            name: "sanctions" | "threat_lists" | "listed_counterparties" | "failing_calls" | "self_dealing" | "approvals" | "delegation" | "retries" | "gas_costs" | "acquired_tokens" | "circular_transfers";
            /**
             * @description Null if the facts are not known
             * @example true
             */
            passed: boolean | null;
            /**
             * @description One sentence
             * @example The wallet is on no sanctions list.
             */
            result: string;
        };
        /** @description 30 days of webhooks; null without webhook_url, and if nothing was charged */
        ProtectionMonitoring: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 8453 */
            chain_id: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            created_at: string;
            /** @example null */
            disabled_reason: string | null;
            /**
             * @example [
             *       "ahs.grade_changed",
             *       "ahs.threshold_breached",
             *       "ahs.sanctions_hit",
             *       "ahs.confidence_changed"
             *     ]
             */
            events: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-12-20T09:58:00.000Z
             */
            expires_at: string;
            /**
             * @description Manages the subscription as `Authorization: Bearer …`; shown once, like the secret
             * @example amt_3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs
             */
            manage_token: string | null;
            /**
             * @description Signs the deliveries (Standard Webhooks 1.0.0); shown once, null in every later answer
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string | null;
            /**
             * @description unverified: no delivery was answered with a 2xx yet. disabled: the endpoint was given up, until a test or a replay is asked for. expired: what happened before is still delivered, and paying again continues it. ended: by its owner, for good
             * @example active
             * @enum {string}
             */
            status: "unverified" | "active" | "disabled" | "expired" | "ended";
            /** Format: uuid */
            subscription_id: string;
            /** @description Thresholds of `ahs.threshold_breached` */
            thresholds: components["schemas"]["WatchedThreshold"][];
            /** @example https://hooks.example.com/agent-health */
            webhook_url: string;
        } | null;
        ProtectionStep: {
            /**
             * @description What to do
             * @example Simulate calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 right before sending, and do not send those that fail.
             */
            action: string;
            /**
             * @description Calls that it is about; null for advice about safety
             * @example 2
             */
            calls: number | null;
            /**
             * @description Contract of the calls; null for contract creations and for advice about safety
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            contract: string | null;
            /**
             * @description Name that the deployment gives the contract; null for a contract that it does not name
             * @example Uniswap v4 universal router
             */
            contract_name: string | null;
            /**
             * @description The failed transaction that a retry repeats
             * @example null
             */
            failed_tx_hash: string | null;
            /**
             * @example retry_transaction
             * @enum {string}
             */
            kind: "resolve_listing" | "leave_listed_accounts" | "stop_failing_calls" | "deal_with_others" | "review_risk" | "revoke_delegation" | "revoke_approval" | "retry_transaction" | "simulate_first" | "set_gas_limit" | "pay_market_price" | "clean_up";
            /**
             * Format: date-time
             * @description Last possible use of the approval that the step revokes; null if none is known, and for other steps
             * @example null
             */
            last_used_at: string | null;
            /**
             * @description Wei, decimal
             * @example 6013441764000
             */
            max_cost_wei: string | null;
            /**
             * @description Usual signature of the selector
             * @example execute(bytes,bytes[],uint256)
             */
            method: string | null;
            /**
             * @description Why a step that would have a transaction has none
             * @example null
             */
            not_ready_reason: string | null;
            /** @description 1 is first */
            priority: number;
            /**
             * @description Why, with the numbers in words
             * @example 2 calls of 30 reverted in 30 days and cost 0.24 USD. A simulation does not foresee every revert, so the saving is an upper bound.
             */
            reason: string;
            /**
             * @description Upper bound. Null for advice about safety, or if nothing prices the native coin: see `fees` then
             * @example 0.24
             */
            saves_usd_per_month: number | null;
            /**
             * @description Method of the calls; null for plain transfers
             * @example 0x3593564c
             */
            selector: string | null;
            /**
             * @example retry
             * @enum {string}
             */
            service: "risk" | "health" | "wash" | "optimize" | "retry";
            /**
             * @description The one scale of all findings
             * @example warning
             * @enum {string}
             */
            severity: "info" | "warning" | "critical";
            simulation: components["schemas"]["PassedSimulation"] | null;
            /**
             * @description Spender of an approval, or the account of a delegation
             * @example null
             */
            spender: string | null;
            /**
             * @description Units of gas, decimal; null for other advice
             * @example null
             */
            suggested_gas_limit: string | null;
            /**
             * @description Token of an approval
             * @example null
             */
            token: string | null;
            /** @description Null where nothing can be signed for the step */
            transaction: components["schemas"]["UnsignedTransaction"] | null;
            /**
             * @description What is at stake: of an approval the wallet's balance of the token, of a retry what it sends; null if it has no price, and for other steps
             * @example null
             */
            value_usd: number | null;
            /**
             * @description What the step may break
             * @example null
             */
            warning: string | null;
        };
        /** @description What the oracle contract holds; null while it holds nothing */
        Published: {
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /** @example 48210 */
            as_of_block: number;
            grade: components["schemas"]["Grade"];
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            oracle: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            published_at: string;
            /**
             * @description The safe amount in the record: the backing when it was published, rounded down by the oracle. 0 where it was unknown; null for a record of a model before AHS-2026.2, which has none
             * @example 42.5
             */
            safe_amount_usd: number | null;
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            tx_hash: string;
        } | null;
        /** @description delivery_id is the webhook-id of every attempt */
        QueuedDelivery: {
            /** @example msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10 */
            delivery_id: string;
            /** @enum {string} */
            state: "pending";
            /** Format: uuid */
            subscription_id: string;
        };
        Readiness: {
            checks: {
                database: components["schemas"]["ReadinessCheck"];
                server: components["schemas"]["ReadinessCheck"];
            };
            index: components["schemas"]["ReadinessCheck"];
            /** @description How fresh each source is, whatever the status; null while it cannot be read */
            sanctions: components["schemas"]["SanctionsSource"][] | null;
            /** @enum {string} */
            status: "ok" | "unavailable";
        };
        ReadinessCheck: {
            /** @example answers */
            detail: string;
            /** @example true */
            ok: boolean;
        };
        Recommendation: {
            /**
             * @description What to do
             * @example Simulate calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 right before sending, and do not send those that fail.
             */
            action: string;
            /**
             * @description Calls that it is about; null for advice about safety
             * @example 2
             */
            calls: number | null;
            /**
             * @description Contract of the calls; null for contract creations and for advice about safety
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            contract: string | null;
            /**
             * @description Name that the deployment gives the contract; null for a contract that it does not name
             * @example Uniswap v4 universal router
             */
            contract_name: string | null;
            /** @description What the saving is computed from: fees of the window; null for advice about safety */
            fees: components["schemas"]["GasMoney"] | null;
            /**
             * @example simulate_first
             * @enum {string}
             */
            kind: "leave_listed_accounts" | "revoke_delegation" | "revoke_approval" | "simulate_first" | "set_gas_limit" | "pay_market_price";
            /**
             * @description Usual signature of the selector
             * @example execute(bytes,bytes[],uint256)
             */
            method: string | null;
            /**
             * @description Why, with the numbers in words
             * @example 2 calls of 30 reverted in 30 days and cost 0.24 USD. A simulation does not foresee every revert, so the saving is an upper bound.
             */
            reason: string;
            /**
             * @description Upper bound. Null for advice about safety, or if nothing prices the native coin: see `fees` then
             * @example 0.24
             */
            saves_usd_per_month: number | null;
            /**
             * @description Method of the calls; null for plain transfers
             * @example 0x3593564c
             */
            selector: string | null;
            /**
             * @description The one scale of all findings
             * @example warning
             * @enum {string}
             */
            severity: "info" | "warning" | "critical";
            /**
             * @description Spender of an approval, or the account of a delegation
             * @example null
             */
            spender: string | null;
            /**
             * @description Units of gas, decimal; null for other advice
             * @example null
             */
            suggested_gas_limit: string | null;
            /**
             * @description Token of an approval
             * @example null
             */
            token: string | null;
        };
        RefusedRetry: {
            /**
             * @description The transaction that makes another one needless
             * @example null
             */
            by: string | null;
            /** @example The wallet is on a sanctions list. */
            detail: string;
            failure: components["schemas"]["FailedTransaction"];
            /** @enum {string} */
            reason: "wallet_listed" | "contract_wallet" | "too_old" | "listed_account" | "repaired" | "maybe_repaired" | "history_too_long" | "under_way" | "under_way_unseen" | "deadline_passed" | "not_tried" | "not_read" | "target_gone" | "simulation_fails" | "approval_revoked" | "insufficient_allowance" | "insufficient_tokens" | "insufficient_balance" | "duplicate";
        };
        ReportCard: {
            /** @description Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped */
            accounts_left_out?: number;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /**
             * @description Caps and effects without roundings; for a sanctioned wallet only the listing, with the sum of all that it takes from the score
             * @example []
             */
            adjustments: components["schemas"]["ScoreAdjustment"][];
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            benchmark: components["schemas"]["Benchmark"];
            /** @example 8453 */
            chain_id: number;
            /**
             * @description Name of the chain
             * @example Base
             */
            chain_name: string;
            /** @example 0.81 */
            confidence: number;
            confidence_level: components["schemas"]["ConfidenceLevel"];
            coverage: components["schemas"]["Coverage"];
            dimensions: components["schemas"]["ReportCardDimension"][];
            grade: components["schemas"]["Grade"];
            /**
             * @description Excellent 90-100, Good 75-89, Needs Attention 60-74, Degraded 40-59, Critical 20-39, Failing 0-19, Insufficient history
             * @example Good
             */
            grade_label: string;
            /**
             * @description Why the grade is what it is, in one sentence
             * @example Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).
             */
            grade_reason: string;
            /** @description Stored scores, oldest first: the newest of each UTC day that has one, of the last 90 such days */
            history: {
                /**
                 * @description Integer 0 to 100; null for a wallet without enough history
                 * @example 84
                 */
                ahs_score: number | null;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                as_of_time: string;
                grade: components["schemas"]["Grade"];
            }[];
            improvement: components["schemas"]["ScoreImprovement"];
            /** @example AHS-2026.2 */
            model_version: string;
            /**
             * @description As the agent registered itself; null for a wallet of no agent, or of one without a name, or whose name mixes scripts so that it could be taken for another's
             * @example payment-agent 0
             */
            name: string | null;
            /**
             * @description Names are not verified: agents choose them at registration
             * @enum {boolean}
             */
            name_verified: false;
            patterns: {
                effect: number;
                /** @example 217 of 224 calls to others succeeded; estimated success 96.3% */
                evidence: string;
                /** @example healthy_operator */
                name: string;
                /**
                 * @description The one scale of all findings
                 * @example warning
                 * @enum {string}
                 */
                severity: "info" | "warning" | "critical";
                /** @example Healthy operator */
                title: string;
            }[];
            /** @example [] */
            sanctions_flags: components["schemas"]["SanctionsFlag"][];
            /** @description The score is as of a block older than 24 hours */
            stale: boolean;
            /**
             * Format: date-time
             * @description When this answer was made
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            trust_routing: components["schemas"]["RoutingAction"];
            /**
             * @description Page of the wallet, which shows how to verify the score
             * @example https://ahs.example/wallet/0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            verify_url: string;
            window: components["schemas"]["ReportWindow"];
        };
        ReportCardDimension: {
            /** @enum {string} */
            dimension: "D1" | "D2";
            features: components["schemas"]["Feature"][];
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            score: number | null;
            /** @example Wallet hygiene */
            title: string;
            /** @example 0.3 */
            weight: number;
        };
        /** @description Free counts and upper bounds of what /health, /wash, /optimize, /retry and /agent/protect find */
        ReportPreview: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /**
             * @description Open unlimited approvals with a risk; null if not read yet
             * @example 5
             */
            approvals_at_risk: number | null;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 8453 */
            chain_id: number;
            /**
             * @description Failed transactions of 30 days, which /retry examines
             * @example 2
             */
            failures_found: number;
            /**
             * @description Recommendations of /optimize that save 0.01 USD a month or more
             * @example 3
             */
            gas_recommendations: number;
            /** @enum {boolean} */
            preview: true;
            /**
             * @description Of them, those of the last 14 days, which /retry may offer again
             * @example 1
             */
            retries_at_most: number;
            /**
             * @description Upper bound of their savings
             * @example 1.7
             */
            saves_usd_per_month: number | null;
            /**
             * @description The counts in words
             * @example 2 failed transactions in 30 days, of which at most 1 can be repeated. 5 unlimited approvals at risk. Gas savings of at most 1.70 USD a month.
             */
            summary: string;
        };
        /** @description Each call is valued at the last answer of the price feed before its UTC day, rounded to 1e-6 USD */
        ReportPrices: {
            /** @example ETH */
            native_symbol: string;
            /**
             * @description US dollars; null where nothing prices it, which is not zero
             * @example 3000
             */
            native_usd: number | null;
            /**
             * @description Why there is no price
             * @example null
             */
            reason: string | null;
        };
        /** @description Own calls before it are not counted */
        ReportWindow: {
            /** @example 180 */
            days: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-05-24T09:58:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            to: string;
        };
        RetryOffer: {
            failure: components["schemas"]["FailedTransaction"];
            /**
             * @description Null where no feed prices the native coin
             * @example 0.012027
             */
            max_cost_usd: number | null;
            /**
             * @description Value, all the gas at its highest price, and a rollup's L1 fee
             * @example 6013441764000
             */
            max_cost_wei: string;
            simulation: components["schemas"]["PassedSimulation"];
            transaction: components["schemas"]["UnsignedTransaction"];
        };
        RetryReport: {
            /**
             * @description By its code, in the words of /health. smart_account: no key signs for it, so that nothing is offered. delegated_eoa: another account's code acts for it as well (EIP-7702), so that nothing is offered that this code may have made good
             * @enum {string}
             */
            account: "eoa" | "delegated_eoa" | "smart_account";
            /** @description Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped */
            accounts_left_out?: number;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 8453 */
            chain_id: number;
            /**
             * @description False if there was nothing to do: then neither a key nor a payment was charged
             * @example true
             */
            charged: boolean;
            coverage: components["schemas"]["Coverage"];
            /** @description Newest first */
            executions: components["schemas"]["FailedExecution"][];
            /**
             * @description In the window; the newest 200 of them are listed
             * @example 2
             */
            failures_found: number;
            /** @description Newest first */
            not_retried: components["schemas"]["RefusedRetry"][];
            /** @description To be sent in this order */
            offers: components["schemas"]["RetryOffer"][];
            /** @description Of the wallet, under way since that block; nonces follow them */
            pending_transactions: number;
            simulated_at: components["schemas"]["SimulatedAt"];
            /**
             * @description Whether the offers were also simulated one after the other (eth_simulateV1); false where the node cannot
             * @example true
             */
            simulated_in_order: boolean;
            /**
             * @description The result in one sentence
             * @example 1 of 2 failed transactions of the last 30 days can be repeated now.
             */
            summary: string;
            /**
             * @description Null where no feed prices the native coin
             * @example 0.012027
             */
            total_max_cost_usd: number | null;
            /**
             * @description Wei, decimal
             * @example 6013441764000
             */
            total_max_cost_wei: string;
            window: components["schemas"]["ReportWindow"];
        };
        Risk: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /**
             * @description Block of the score; null without one
             * @example 48210
             */
            as_of_block: number | null;
            /** @example 8453 */
            chain_id: number;
            /** @example 0.81 */
            confidence: number;
            confidence_level: components["schemas"]["ConfidenceLevel"];
            counterparty_exposure: components["schemas"]["CounterpartyExposure"];
            /**
             * @description Why counterparty_exposure is null
             * @example null
             * @enum {string|null}
             */
            counterparty_exposure_reason: "not_followed" | "no_contacts" | null;
            grade: components["schemas"]["Grade"];
            /**
             * @description listed_counterparties: without a score of its own, the least that the share to listed accounts makes of it
             * @enum {string}
             */
            reason: "scored" | "insufficient_history" | "not_scored" | "listed_counterparties" | "sanctioned";
            /**
             * @description One of each kind of threat; exposure_listed: part of what it sent went to listed accounts
             * @example []
             */
            reason_codes: ("listed_phishing" | "listed_scam" | "listed_mixer" | "listed_exploit" | "exposure_listed")[];
            /**
             * @description LOW up to 25, grades A and B; MEDIUM up to 40, grade C; HIGH up to 80, grades D and E; CRITICAL above, grade F; UNKNOWN without a score, unless the share to listed accounts alone determines a level
             * @enum {string}
             */
            risk_level: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL" | "UNKNOWN";
            /**
             * @description 100 is the worst; null where too little is known, which is no sign of risk
             * @example 16
             */
            risk_score: number | null;
            /**
             * @description Newest indexed block, at which lists were looked up
             * @example 48210
             */
            sanctions_as_of_block: number;
            /** @example [] */
            sanctions_flags: components["schemas"]["SanctionsFlag"][];
            /**
             * Format: date-time
             * @description Time of the block that the score is as of
             * @example 2026-11-20T09:58:00.000Z
             */
            scored_at: string | null;
            /** @description The worst first */
            signals: components["schemas"]["RiskSignal"][];
            /** @description The score is older than 24 hours; null without one */
            stale: boolean | null;
            /**
             * @description Lists of phishing, scam, mixer and exploit addresses that the operator imported and the wallet is on. They change no score; `threat_action` of a routing policy decides what they do to a payment
             * @example []
             */
            threats: components["schemas"]["Threat"][];
            /** @example Low risk: 12.4% of its fees were spent on failed calls, gas prices 100 of 100. */
            verdict: string;
        };
        RiskSignal: {
            /** @example 12.4% of its fees were spent on failed calls, gas prices 100 of 100 */
            detail: string;
            /**
             * @description A pattern or feature of the model, or sanctioned, listed_phishing and the like, listed_counterparties, failing_counterparties
             * @example gas_efficiency
             */
            name: string;
            /**
             * @description The one scale of all findings
             * @example warning
             * @enum {string}
             */
            severity: "info" | "warning" | "critical";
        };
        RotatedKey: {
            /**
             * @description The key from now on, for the header X-API-Key. Shown once: a repeat of the request shows null
             * @example ahs_Zk3vQ9aBxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
             */
            api_key: string | null;
            /**
             * @description Null: unlimited
             * @example 25
             */
            balance_usd: number | null;
            /**
             * Format: date-time
             * @description Null: never
             * @example null
             */
            expires_at: string | null;
            /** Format: uuid */
            key_id: string;
            /**
             * @description First characters of the key, which identify it in lists
             * @example ahs_Zk3vQ9aB
             */
            key_prefix: string;
            /** @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc */
            name: string;
            /**
             * @description Calls that the key may make in a minute
             * @example 600
             */
            rate_per_minute: number;
        };
        RotatedSecret: {
            /**
             * @description A new one, shown once, where the owner asked; null where the manage token itself did
             * @example amt_3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs
             */
            manage_token: string | null;
            /** @description Whether a still older secret signed as well until now: it does so no more, whatever the answer before said. Receivers that know it alone have to be given this one now */
            older_secret_ended: boolean;
            /**
             * Format: date-time
             * @description Until then, or until the next rotation, the secret before it signs as well
             * @example 2026-11-21T09:58:00.000Z
             */
            previous_valid_until: string;
            /**
             * @description Shown once: a repeat of the request shows null
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string | null;
            /** Format: uuid */
            subscription_id: string;
        };
        /** @default {} */
        RotateKeyInput: {
            /**
             * Format: uuid
             * @description With SIGN-IN-WITH-X, the key to renew; needed where the wallet bought several
             */
            key_id?: string;
        };
        /**
         * @description By the default table
         * @enum {string}
         */
        RoutingAction: "instant_settle" | "escrow" | "reject";
        RoutingDecision: {
            action: components["schemas"]["RoutingAction"];
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /**
             * @description Equal to ahs_score
             * @example 84
             */
            agent_health_score: number | null;
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /** @description Whether the wallet is on the allowlist of that policy; a sanctioned wallet is rejected anyway */
            allowlisted: boolean;
            backing: components["schemas"]["Backing"];
            /** @example 0.81 */
            confidence: number;
            confidence_level: components["schemas"]["ConfidenceLevel"];
            grade: components["schemas"]["Grade"];
            /** @example Good */
            grade_label: string;
            /** @description Whether a policy of the caller, and not the default table, decided */
            policy_applied: boolean;
            /**
             * @example grade
             * @enum {string}
             */
            reason: "sanctioned" | "allowlist" | "threat_listed" | "confidence_override" | "grade" | "escrow_disabled" | "insufficient_history" | "not_scored" | "confidence_below_minimum" | "above_max_instant" | "backing_unknown" | "above_safe_amount";
            /**
             * @description One of each kind of threat; exposure_listed: part of what it sent went to listed accounts
             * @example []
             */
            reason_codes: ("listed_phishing" | "listed_scam" | "listed_mixer" | "listed_exploit" | "exposure_listed")[];
            routing_recommendation: components["schemas"]["RoutingAction"] & unknown;
            /**
             * Format: date-time
             * @description Time of the block that the score is as of
             * @example 2026-11-20T09:58:00.000Z
             */
            scored_at: string | null;
            /** @description The score is older than 24 hours; null without one */
            stale: boolean | null;
            /**
             * @description Lists of phishing, scam, mixer and exploit addresses that the operator imported and the wallet is on. They change no score; `threat_action` of a routing policy decides what they do to a payment
             * @example []
             */
            threats: components["schemas"]["Threat"][];
            /** @description A plain sentence for a wallet on a list of threats that the decision does not take into account; null without one */
            warning: string | null;
        };
        RoutingPolicy: {
            allowlist: string[];
            confidence_overrides: components["schemas"]["ConfidenceOverrides"];
            escrow_disabled: boolean;
            escrow_grades: ("A" | "B" | "C" | "D" | "E" | "F")[];
            instant_grades: ("A" | "B" | "C" | "D" | "E" | "F")[];
            /**
             * @example escrow
             * @enum {string}
             */
            insufficient_action: "instant_settle" | "escrow" | "reject";
            /**
             * @description Greatest amount_usd that settles at once, with at most 6 decimals; above it instant_settle becomes escrow. Null for no limit of its own
             * @example 25
             */
            max_instant_usd: number | null;
            /** @enum {string|null} */
            min_confidence_for_instant: "HIGH" | "MEDIUM" | "LOW" | null;
            /**
             * @example [
             *       "D",
             *       "E",
             *       "F"
             *     ]
             */
            reject_grades: ("A" | "B" | "C" | "D" | "E" | "F")[];
            /**
             * @description Factor, 0 to 10, of the available safe amount up to which an amount_usd settles at once; 0: none does
             * @example 1
             */
            safe_amount_multiple: number;
            /**
             * @example ignore
             * @enum {string}
             */
            threat_action: "ignore" | "escrow" | "reject";
            /**
             * Format: date-time
             * @description When it was put; null while the default table holds
             * @example 2026-11-20T09:58:00.000Z
             */
            updated_at: string | null;
        };
        RoutingPolicyInput: {
            /** @description Wallets that settle whatever their score, unless they are sanctioned; never the caller's own */
            allowlist?: string[];
            confidence_overrides?: components["schemas"]["ConfidenceOverrides"];
            /**
             * @description Turns every escrow into a reject
             * @default false
             */
            escrow_disabled?: boolean;
            /**
             * @description Grades that wait in escrow. Default: C, without the grades that another set names
             * @example [
             *       "B",
             *       "C"
             *     ]
             */
            escrow_grades?: ("A" | "B" | "C" | "D" | "E" | "F")[];
            /**
             * @description Grades that settle at once. Default: A, B, without the grades that another set names
             * @example [
             *       "A"
             *     ]
             */
            instant_grades?: ("A" | "B" | "C" | "D" | "E" | "F")[];
            /**
             * @description For wallets never scored or without enough history
             * @default escrow
             * @enum {string}
             */
            insufficient_action?: "instant_settle" | "escrow" | "reject";
            /**
             * @description Greatest amount_usd that settles at once, with at most 6 decimals; above it instant_settle becomes escrow. Null for no limit of its own
             * @default null
             * @example 25
             */
            max_instant_usd?: string | number | null;
            /**
             * @description Lowest confidence that settles at once, with or without amount_usd; below it instant_settle becomes escrow. Null for any
             * @default null
             * @example MEDIUM
             * @enum {string|null}
             */
            min_confidence_for_instant?: "HIGH" | "MEDIUM" | "LOW" | null;
            /**
             * @description Grades that reject: all that are in neither other set. If it is sent, it must be these
             * @example [
             *       "D",
             *       "E",
             *       "F"
             *     ]
             */
            reject_grades?: ("A" | "B" | "C" | "D" | "E" | "F")[];
            /**
             * @description Factor, 0 to 10, of the available safe amount up to which an amount_usd settles at once; 0: none does
             * @default 1
             * @example 1
             */
            safe_amount_multiple?: string | number;
            /**
             * @description For wallets on an imported list of threats: ignore decides as without the list, escrow holds what would settle at once, reject rejects. An allowlisted wallet settles all the same
             * @default ignore
             * @enum {string}
             */
            threat_action?: "ignore" | "escrow" | "reject";
            /** @description Of the answer of GET, so that it can be sent back; ignored */
            updated_at?: unknown;
        };
        SanctionsFlag: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            detected_at: string;
            /**
             * @description Transaction hash of the listing, the block at which the contract was asked, or the unique id of OFAC
             * @example block 48188
             */
            reference: string;
            /** @enum {string} */
            source: "chainalysis-oracle" | "ofac-sdn";
        };
        SanctionsHitEvent: {
            data: {
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                address: string;
                /** @example 48210 */
                as_of_block: number;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                as_of_time: string;
                /** @example 8453 */
                chain_id: number;
                /** @example 0.81 */
                confidence: number;
                confidence_level: components["schemas"]["ConfidenceLevel"];
                current: components["schemas"]["ScoreState"] & unknown;
                /**
                 * @description Of the record that shows the change
                 * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
                 */
                inputs_hash: string;
                previous: components["schemas"]["ScoreState"];
                sanctions_flags: components["schemas"]["SanctionsFlag"][];
                /** Format: uuid */
                subscription_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "ahs.sanctions_hit";
        };
        SanctionsSource: {
            /** @example 3 */
            age_seconds: number | null;
            /**
             * Format: date-time
             * @description Until when the source is known: its newest block or last import; null if never
             * @example 2026-11-20T09:58:00.000Z
             */
            checked_at: string | null;
            /**
             * @description The block, or the list's own date
             * @example block 48210
             */
            edition: string | null;
            /** @example 91 */
            entries: number;
            /**
             * @description keccak256 of the RFC 8785 form of its {address, reference} entries by address
             * @example 0x3e9cc35d2f8e9d8f5e0a4b2a4e2c7b8fb38d1f1f4c5c0e6d4f3d2c1b0a998877
             */
            list_hash: string | null;
            /** @enum {string} */
            source: "chainalysis-oracle" | "ofac-sdn";
            /** @description Wallets that the contract still has to be asked about; null for a list */
            unchecked_wallets: number | null;
        };
        ScoreAdjustment: {
            /**
             * @description The score that it changes
             * @example AHS
             * @enum {string}
             */
            dimension: "D1" | "D2" | "D3" | "AHS";
            /**
             * @description weak_link, sanctions, pattern_limit, rounding or the name of a pattern, the same in every answer and on every page. evidence, without a grade: which condition is missing
             * @example weak_link
             */
            name: string;
            /**
             * @description Points that it adds or takes
             * @example -3.26
             */
            points: number;
            /**
             * @description Why
             * @example Wallet hygiene scores more than 20 points below behaviour
             */
            says: string;
            /** @example Weak link */
            title: string;
        };
        ScoreHistory: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 8453 */
            chain_id: number;
            /** @description Newest first; empty for a wallet without a score */
            history: components["schemas"]["ScorePoint"][];
            /**
             * Format: date-time
             * @description Null on the last page. A page of grade_changes covers 5,000 scores at most, and may have fewer points than `limit`
             * @example null
             */
            next_cursor: string | null;
            /** @enum {string} */
            points: "days" | "grade_changes";
        };
        /** @description The change that raises the score most; null without a score, if listed, or below one point */
        ScoreImprovement: {
            /** @example success_rate */
            feature: string;
            /**
             * @description Points of the score that the full feature score would add, at most
             * @example 6.4
             */
            points: number;
            /**
             * @description What to do
             * @example Simulate each call before sending it, and hold back the calls that would fail
             */
            says: string;
            /** @example Success rate */
            title: string;
        } | null;
        ScorePoint: {
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 0.81 */
            confidence: number;
            confidence_level: components["schemas"]["ConfidenceLevel"];
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            d1_score: number | null;
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            d2_score: number | null;
            grade: components["schemas"]["Grade"];
            /**
             * @description With grade_changes: why the new grade is what it is, from the stored record
             * @example Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).
             */
            grade_reason?: string;
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            inputs_hash: string;
            /** @example AHS-2026.2 */
            model_version: string;
            /**
             * @description With grade_changes: the grade before; null for the first score and after a record without enough history
             * @example C
             * @enum {string|null}
             */
            previous_grade?: "A" | "B" | "C" | "D" | "E" | "F" | null;
            /** @description Whether the wallet was on a sanctions list then, which alone makes the score 0 */
            sanctioned: boolean;
        };
        /** @description Grade and score are null without enough history, or without a score */
        ScoreState: {
            /**
             * @description Integer 0 to 100; null for a wallet without enough history
             * @example 84
             */
            ahs_score: number | null;
            grade: components["schemas"]["Grade"];
            trust_routing: components["schemas"]["RoutingAction"];
        };
        /** @description The newest indexed block, which the node had before and after */
        SimulatedAt: {
            /** @example 48210 */
            block: number;
            /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
            block_hash: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            time: string;
        };
        Subscribed: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 8453 */
            chain_id: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            created_at: string;
            /** @example null */
            disabled_reason: string | null;
            /**
             * @example [
             *       "ahs.grade_changed",
             *       "ahs.threshold_breached",
             *       "ahs.sanctions_hit",
             *       "ahs.confidence_changed"
             *     ]
             */
            events: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-12-20T09:58:00.000Z
             */
            expires_at: string;
            /**
             * @description Manages the subscription as `Authorization: Bearer …`. Shown once, like the secret; if it is lost, rotate with the key or the wallet that paid
             * @example amt_3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs
             */
            manage_token: string | null;
            /**
             * @description Signs the deliveries (Standard Webhooks 1.0.0). Shown once, by the call that makes the subscription; null in every later answer: POST /alerts/{subscription_id}/rotate makes a new one
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
             */
            secret: string | null;
            /**
             * @description unverified: no delivery was answered with a 2xx yet. disabled: the endpoint was given up, until a test or a replay is asked for. expired: what happened before is still delivered, and paying again continues it. ended: by its owner, for good
             * @example active
             * @enum {string}
             */
            status: "unverified" | "active" | "disabled" | "expired" | "ended";
            /** Format: uuid */
            subscription_id: string;
            /** @description Thresholds of `ahs.threshold_breached` */
            thresholds: components["schemas"]["WatchedThreshold"][];
            /** @example https://hooks.example.com/agent-health */
            webhook_url: string;
        };
        Subscription: {
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 8453 */
            chain_id: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            created_at: string;
            /** @example null */
            disabled_reason: string | null;
            /**
             * @example [
             *       "ahs.grade_changed",
             *       "ahs.threshold_breached",
             *       "ahs.sanctions_hit",
             *       "ahs.confidence_changed"
             *     ]
             */
            events: string[];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-12-20T09:58:00.000Z
             */
            expires_at: string;
            /**
             * @description unverified: no delivery was answered with a 2xx yet. disabled: the endpoint was given up, until a test or a replay is asked for. expired: what happened before is still delivered, and paying again continues it. ended: by its owner, for good
             * @example active
             * @enum {string}
             */
            status: "unverified" | "active" | "disabled" | "expired" | "ended";
            /** Format: uuid */
            subscription_id: string;
            /** @description Thresholds of `ahs.threshold_breached` */
            thresholds: components["schemas"]["WatchedThreshold"][];
            /** @example https://hooks.example.com/agent-health */
            webhook_url: string;
        };
        SubscriptionExpiringEvent: {
            data: {
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                address: string;
                /** @example 8453 */
                chain_id: number;
                /**
                 * @example [
                 *       "ahs.grade_changed",
                 *       "ahs.threshold_breached",
                 *       "ahs.sanctions_hit",
                 *       "ahs.confidence_changed"
                 *     ]
                 */
                events: string[];
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-12-20T09:58:00.000Z
                 */
                expires_at: string;
                /**
                 * @description Which notice it is: of three days before the end, or of one
                 * @example 3
                 */
                notice_days: number;
                /** Format: uuid */
                subscription_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "subscription.expiring";
        };
        Subscriptions: {
            /**
             * @description Null on the last page
             * @example null
             */
            next_cursor: string | null;
            subscriptions: components["schemas"]["Subscription"][];
        };
        SubscriptionTestEvent: {
            data: {
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                address: string;
                /** @example 8453 */
                chain_id: number;
                /**
                 * @example [
                 *       "ahs.grade_changed",
                 *       "ahs.threshold_breached",
                 *       "ahs.sanctions_hit",
                 *       "ahs.confidence_changed"
                 *     ]
                 */
                events: string[];
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-12-20T09:58:00.000Z
                 */
                expires_at: string;
                /** Format: uuid */
                subscription_id: string;
                thresholds: components["schemas"]["WatchedThreshold"][];
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "subscription.test";
        };
        Threat: {
            /** @enum {string} */
            kind: "phishing" | "scam" | "mixer" | "exploit";
            /**
             * @description Name of the list
             * @example scamsniffer
             */
            list: string;
            /**
             * Format: date-time
             * @description When an import first showed the wallet there
             * @example 2026-11-20T09:58:00.000Z
             */
            listed_at: string;
            /**
             * @description Where the list comes from
             * @example https://github.com/scamsniffer/scam-database
             */
            source: string;
        };
        ThresholdBreach: {
            /**
             * @description The threshold
             * @example 70
             */
            below: number;
            /** @example 68 */
            current: number;
            /**
             * @description At or above the threshold, or null: unknown
             * @example 78
             */
            previous: number | null;
            /** @enum {string} */
            value: "ahs_score" | "d1_score" | "d2_score" | "confidence";
        };
        ThresholdBreachedEvent: {
            data: {
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                address: string;
                /** @example 48210 */
                as_of_block: number;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 * @example 2026-11-20T09:58:00.000Z
                 */
                as_of_time: string;
                breached: components["schemas"]["ThresholdBreach"][];
                /** @example 8453 */
                chain_id: number;
                /** @example 0.81 */
                confidence: number;
                confidence_level: components["schemas"]["ConfidenceLevel"];
                current: components["schemas"]["ScoreState"] & unknown;
                /**
                 * @description Of the record that shows the change
                 * @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
                 */
                inputs_hash: string;
                previous: components["schemas"]["ScoreState"];
                /** Format: uuid */
                subscription_id: string;
            };
            /**
             * Format: date-time
             * @description When it happened; the same at every attempt
             * @example 2026-11-20T09:58:00.000Z
             */
            timestamp: string;
            /** @enum {string} */
            type: "ahs.threshold_breached";
        };
        TokenPnl: {
            /**
             * @description Got in trades; amounts are in the token's smallest unit
             * @example 500000000000000000
             */
            bought: string;
            /**
             * @description Of what is held, where its cost is known
             * @example 500
             */
            cost_usd: number | null;
            /** @description Money: always priced within 5% of one US dollar. Gains are counted in money, which has no sale, cost or result of its own */
            currency: boolean;
            /** @example 18 */
            decimals: number | null;
            /**
             * @description Left of what came by own calls
             * @example 500000000000000000
             */
            held: string;
            losses: number;
            /**
             * @description own_trade: the wallet's newest trade of it, left out of the total
             * @enum {string|null}
             */
            priced_by: "feed" | "own_trade" | null;
            /**
             * @description Null where no sale has a known price and cost
             * @example 500
             */
            realised_usd: number | null;
            /**
             * @description Got for nothing in return
             * @example 500000000000000000
             */
            received: string;
            /** @description Times that it came back from where it had been sent */
            returns: number;
            sales: number;
            /**
             * @description Given for nothing in return, at its cost, with which it comes back from the same contract
             * @example 500000000000000000
             */
            sent: string;
            /**
             * @description Given in trades
             * @example 500000000000000000
             */
            sold: string;
            /**
             * @description Sold or sent, though no own call had acquired it: its cost is unknown
             * @example 500000000000000000
             */
            sold_without_cost: string;
            /**
             * @description Null if neither the operator's list nor the token contract has one
             * @example WETH
             */
            symbol: string | null;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            token: string;
            unpriced_legs: number;
            /** @example 500 */
            unrealised_usd: number | null;
            /**
             * @description Of the same, as of the block
             * @example 500
             */
            value_usd: number | null;
            /** @description Whether the operator lists the token; if not, symbol and decimals are the contract's own */
            verified: boolean;
            wins: number;
        };
        ToppedUpKey: {
            /**
             * @description Null: unlimited
             * @example 25
             */
            balance_usd: number | null;
            /**
             * @description What this payment added to the balance
             * @example 25
             */
            credited_usd: number;
            /**
             * Format: date-time
             * @description Null: never
             * @example null
             */
            expires_at: string | null;
            /** Format: uuid */
            key_id: string;
            /**
             * @description First characters of the key, which identify it in lists
             * @example ahs_Zk3vQ9aB
             */
            key_prefix: string;
            /** @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc */
            name: string;
            /**
             * @description Calls that the key may make in a minute
             * @example 600
             */
            rate_per_minute: number;
        };
        /** @description An EIP-1559 transaction. It is never signed or sent by this service. */
        UnsignedTransaction: {
            /** @example 8453 */
            chainId: number;
            /** @example 0x322e9f04 */
            data: string;
            /**
             * @description Gas limit: eth_estimateGas at the block, plus 25%, rounded up, at most the block's gas limit
             * @example 60126
             */
            gas: string;
            /**
             * @description Wei: twice the newest block's base fee, plus the priority fee
             * @example 100014000
             */
            maxFeePerGas: string;
            /**
             * @description Wei, as the node suggests
             * @example 100000000
             */
            maxPriorityFeePerGas: string;
            /** @example 412 */
            nonce: number;
            /**
             * @description 0x02 and the RLP of the above: what is to be signed
             * @example 0x02ef827a6982019c8405f5e1008405f617b082eade945fc8d32690cc91d4c39d9d3abcbd16989f8757078084322e9f04c0
             */
            serialized: string;
            /**
             * @description Null for a contract creation
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            to: string | null;
            /** @enum {string} */
            type: "eip1559";
            /**
             * @description Wei, decimal
             * @example 0
             */
            value: string;
        };
        ValidationError: {
            ctx?: {
                [key: string]: unknown;
            };
            input?: unknown;
            loc: (string | number)[];
            msg: string;
            type: string;
        };
        WalletDifference: {
            /**
             * @description AHS for a pattern
             * @enum {string}
             */
            dimension: "D1" | "D2" | "AHS";
            /** @example success_rate */
            name: string;
            /**
             * @description Points of the score between the wallets that lose most and least by it
             * @example 12.4
             */
            points: number;
            /** @example Success rate */
            title: string;
            /** @description In the order of the request */
            wallets: {
                /**
                 * @description EIP-55 address
                 * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                 */
                address: string;
                /**
                 * @description Points of the score that it costs the wallet; null if it was not measured, or does not make the wallet's score
                 * @example 2.1
                 */
                points_lost: number | null;
                /**
                 * @description The measurement in one sentence; null without one
                 * @example 217 of 224 calls to others succeeded (96.9%)
                 */
                says: string | null;
            }[];
        };
        WalletLabel: {
            /** @example defi */
            category: string | null;
            /** @example Dex Trader */
            label: string;
            /**
             * @description deployment or identity-registry for labels from the chain; the list of a sanctioned wallet; else the provider
             * @example nansen
             */
            source: string;
        };
        WashDeduction: {
            /**
             * @description Findings; of portfolio_quality and self_dealing the share, 0 to 1; null where it is not known
             * @example 0
             */
            found: number | null;
            /**
             * @description Most that it takes
             * @example 10
             */
            max_points: number;
            /** @enum {string} */
            name: "dust" | "unrecognised_tokens" | "portfolio_quality" | "approvals" | "delegation" | "self_dealing" | "circular_transfers";
            /**
             * @description Taken from 100; null where it is not known
             * @example 0
             */
            points: number | null;
            /**
             * @description The finding in words
             * @example 0 acquired tokens are worth less than 0.01 USD; 2 points each.
             */
            reason: string;
        };
        WashIssue: {
            /**
             * @description The spender, delegate or counterparty
             * @example null
             */
            account: string | null;
            /**
             * @description What to do
             * @example Do not approve, swap or claim these tokens: spam is sent to make wallets do so.
             */
            action: string;
            /** @example received */
            category: string;
            /**
             * @description What was found
             * @example Others sent 1 unrecognised token to the wallet. This takes no points.
             */
            description: string;
            /**
             * @description How many; null for a single one
             * @example 1
             */
            found: number | null;
            /**
             * @description The one scale of all findings
             * @example warning
             * @enum {string}
             */
            severity: "info" | "warning" | "critical";
            /**
             * @description EIP-55 address
             * @example null
             */
            token: string | null;
            /**
             * @description US dollars; null where nothing prices it, which is not zero
             * @example null
             */
            value_usd: number | null;
        };
        WashReport: {
            /** @description Accounts skipped because the logs of the wallet's calls name more than 20,000. Owners, users and flags omit them. Absent if none was skipped */
            accounts_left_out?: number;
            /**
             * @description Own calls that moved a token or gave an approval, and open approvals; null if the approvals were not read
             * @example 30
             */
            activity: number | null;
            /**
             * @description EIP-55 address
             * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
             */
            address: string;
            /** @example 48210 */
            as_of_block: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             * @example 2026-11-20T09:58:00.000Z
             */
            as_of_time: string;
            /** @example 8453 */
            chain_id: number;
            /** @description Bounds of the score with unknown deductions; null for the other reasons */
            cleanliness_range: {
                /** @example 90 */
                highest: number;
                /** @example 90 */
                lowest: number;
            } | null;
            /**
             * @description Why there is no score. sanctioned: the wallet is on a sanctions list. not_scored: it has no Agent Health Score. failing: that is a D, E or F. little_activity: fewer than 5 own token movements and approvals. not_read: a deduction is not known
             * @example null
             * @enum {string|null}
             */
            cleanliness_reason: "sanctioned" | "not_scored" | "failing" | "little_activity" | "not_read" | null;
            /**
             * @description 100 less the points of all deductions; null with a reason. It is no grade of the wallet
             * @example 90
             */
            cleanliness_score: number | null;
            coverage: components["schemas"]["Coverage"];
            deductions: components["schemas"]["WashDeduction"][];
            /** @description The gravest first, at most 200 */
            issues: components["schemas"]["WashIssue"][];
            /**
             * @example {
             *       "critical": 0,
             *       "warning": 0,
             *       "info": 1
             *     }
             */
            issues_by_severity: {
                critical: number;
                info: number;
                warning: number;
            };
            /** @description Open approvals without limit, the riskiest first; null if not read */
            open_approvals: components["schemas"]["OpenApproval"][] | null;
            /** @example null */
            open_approvals_reason: string | null;
            portfolio: components["schemas"]["Portfolio"];
            prices: components["schemas"]["ReportPrices"];
            /** @description What transactions of others brought since the index follows the wallet. It takes no points, since any contract can log a transfer */
            received: {
                dust_tokens: number;
                left_out: number;
                /** @example 1 */
                spam_tokens: number;
                /** @description Most transfers first, at most 100 */
                tokens: {
                    /**
                     * @description In the token's smallest unit, decimal
                     * @example 108000000
                     */
                    amount: string | null;
                    /** @enum {string} */
                    kind: "spam" | "dust" | "gift";
                    /**
                     * Format: date-time
                     * @description ISO 8601, UTC
                     * @example 2026-11-20T09:58:00.000Z
                     */
                    last_at: string;
                    /** @example 1 */
                    senders: number;
                    /**
                     * @example erc20
                     * @enum {string}
                     */
                    standard: "native" | "erc20" | "erc721" | "erc1155";
                    /** @example null */
                    symbol: string | null;
                    /**
                     * @description The zero address for native coin
                     * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                     */
                    token: string;
                    /** @example 3 */
                    transfers: number;
                    /**
                     * @description US dollars; null where nothing prices it, which is not zero
                     * @example null
                     */
                    value_usd: number | null;
                }[];
                /** @example 3 */
                transfers: number;
                /** @description True where only the newest 20,000 transfers were read */
                truncated: boolean;
            };
            /** @example [] */
            sanctions_flags: components["schemas"]["SanctionsFlag"][];
            self_dealing: {
                /** @description Transfers that came back, most often first, at most 100: of any amount within 7 days from an account of the same owner, within 1% of the amount and 24 hours from another account without code. Each transfer counts once; longer circles are not found */
                circles: {
                    /**
                     * @description In the token's smallest unit, decimal
                     * @example 108000000
                     */
                    amount: string;
                    /**
                     * @description EIP-55 address
                     * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                     */
                    counterparty: string;
                    /**
                     * Format: date-time
                     * @description ISO 8601, UTC
                     * @example 2026-11-20T09:58:00.000Z
                     */
                    last_at: string;
                    /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                    last_back_tx: string;
                    /** @example 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d */
                    last_out_tx: string;
                    /** @description Whether it belongs to the wallet's owner */
                    own: boolean;
                    /** @example 2 */
                    times: number;
                    /**
                     * @description The zero address for native coin
                     * @example 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc
                     */
                    token: string;
                }[];
                is_pattern: boolean;
                /**
                 * @description Share of the weight of own calls that stays within the owner's accounts
                 * @example 0
                 */
                own_share: number | null;
                truncated: boolean;
            };
            /**
             * @description The result in two sentences
             * @example Cleanliness 100 of 100. 1 note.
             */
            summary: string;
            window: components["schemas"]["ReportWindow"];
        };
        WatchedThreshold: {
            /**
             * @description The threshold
             * @example 70
             */
            below: number;
            /**
             * @description Of the newest score; null without a score, or without enough history
             * @example 78
             */
            current: number | null;
            /** @enum {string} */
            value: "ahs_score" | "d1_score" | "d2_score" | "confidence";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    protect_wallet: {
        parameters: {
            query?: {
                /** @description True for a free preview without a key or payment: counts and upper bounds of the findings */
                preview?: boolean;
                /** @description Adds 30 days of monitoring, as GET /alerts/subscribe/{address} sells it with every event. A URL that leads anywhere but to a public https host is refused. */
                webhook_url?: string;
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plan */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "window": {
                     *         "from": "2026-05-24T09:58:00.000Z",
                     *         "to": "2026-11-20T09:58:00.000Z",
                     *         "days": 180
                     *       },
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "summary": "2 transactions can be signed now; tokens worth 120.00 USD are at stake. 9 of 11 checks passed.",
                     *       "charged": true,
                     *       "risk_level": "LOW",
                     *       "risk_score": 16,
                     *       "verdict": "Low risk: 12.4% of its fees were spent on failed calls, gas prices 100 of 100.",
                     *       "checks": [
                     *         {
                     *           "name": "sanctions",
                     *           "passed": true,
                     *           "found": 0,
                     *           "result": "The wallet is on no sanctions list."
                     *         }
                     *       ],
                     *       "simulated_at": {
                     *         "block": 48210,
                     *         "block_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *         "time": "2026-11-20T09:58:00.000Z"
                     *       },
                     *       "steps": [
                     *         {
                     *           "priority": 1,
                     *           "service": "retry",
                     *           "kind": "retry_transaction",
                     *           "severity": "warning",
                     *           "action": "Simulate calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 right before sending, and do not send those that fail.",
                     *           "reason": "2 calls of 30 reverted in 30 days and cost 0.24 USD. A simulation does not foresee every revert, so the saving is an upper bound.",
                     *           "saves_usd_per_month": 0.24,
                     *           "contract": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "contract_name": "Uniswap v4 universal router",
                     *           "selector": "0x3593564c",
                     *           "method": "execute(bytes,bytes[],uint256)",
                     *           "calls": 2,
                     *           "suggested_gas_limit": null,
                     *           "token": null,
                     *           "spender": null,
                     *           "value_usd": null,
                     *           "failed_tx_hash": null,
                     *           "last_used_at": null,
                     *           "warning": null,
                     *           "transaction": {
                     *             "type": "eip1559",
                     *             "chainId": 8453,
                     *             "nonce": 412,
                     *             "to": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "data": "0x322e9f04",
                     *             "value": "0",
                     *             "gas": "60126",
                     *             "maxFeePerGas": "100014000",
                     *             "maxPriorityFeePerGas": "100000000",
                     *             "serialized": "0x02ef827a6982019c8405f5e1008405f617b082eade945fc8d32690cc91d4c39d9d3abcbd16989f8757078084322e9f04c0"
                     *           },
                     *           "simulation": {
                     *             "passes": true,
                     *             "block": 48210,
                     *             "gas_estimate": "48100"
                     *           },
                     *           "max_cost_wei": "6013441764000",
                     *           "not_ready_reason": null
                     *         }
                     *       ],
                     *       "transactions": 1,
                     *       "first_nonce": 412,
                     *       "total_max_cost_wei": "6013441764000",
                     *       "total_max_cost_usd": 0.012027,
                     *       "saves_usd_per_month": 0.24,
                     *       "simulated_in_order": true,
                     *       "not_retried": [
                     *         {
                     *           "failure": {
                     *             "hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "block": 48210,
                     *             "time": "2026-11-20T09:58:00.000Z",
                     *             "nonce": 409,
                     *             "to": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "selector": "0x322e9f04",
                     *             "value": "0",
                     *             "gas_limit": "90000",
                     *             "gas_used": "24112",
                     *             "fee_wei": "2411368784000",
                     *             "fee_complete": true,
                     *             "intent": "other",
                     *             "cause": "reverted",
                     *             "cause_reason": "InsufficientBalance()"
                     *           },
                     *           "reason": "wallet_listed",
                     *           "detail": "The wallet is on a sanctions list.",
                     *           "by": null
                     *         }
                     *       ],
                     *       "monitoring": {
                     *         "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *         "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *         "chain_id": 8453,
                     *         "webhook_url": "https://hooks.example.com/agent-health",
                     *         "events": [
                     *           "ahs.grade_changed",
                     *           "ahs.threshold_breached",
                     *           "ahs.sanctions_hit",
                     *           "ahs.confidence_changed"
                     *         ],
                     *         "thresholds": [
                     *           {
                     *             "value": "ahs_score",
                     *             "below": 70,
                     *             "current": 78
                     *           }
                     *         ],
                     *         "status": "active",
                     *         "disabled_reason": null,
                     *         "created_at": "2026-11-20T09:58:00.000Z",
                     *         "expires_at": "2026-12-20T09:58:00.000Z",
                     *         "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
                     *         "manage_token": "amt_3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Protection"] | components["schemas"]["ReportPreview"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Node unavailable, or Name servers unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    find_agent: {
        parameters: {
            query?: {
                /** @description Number of the agent in its registry; registries number their agents by themselves */
                agent_id?: string;
                /** @description Part of the agent's name, in any case; without three letters or digits in a row it matches the beginning only */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agents; an empty list if none matches */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agents": [
                     *         {
                     *           "agent_id": "142",
                     *           "registry": {
                     *             "name": "ERC-8004 identity registry",
                     *             "address": "0x8004A818BFB912233c491871b3d84c89A494BD9e"
                     *           },
                     *           "name": "keeper 1",
                     *           "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "grade": "B"
                     *         }
                     *       ],
                     *       "is_cut": false
                     *     }
                     */
                    "application/json": components["schemas"]["FoundAgents"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    score_wallet: {
        parameters: {
            query?: {
                /** @description A URL of the agent, shown with the infrastructure. It counts where it equals or lies under an endpoint that the wallet's agents declare; any other is visited once and scores nothing. A URL that leads anywhere but to a public https host is refused. */
                agent_url?: string;
                /** @description Parts to add */
                include?: ("features" | "history" | "attestation" | "infrastructure")[];
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The record */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "ahs_score": 84,
                     *       "grade": "B",
                     *       "confidence": 0.81,
                     *       "confidence_level": "HIGH",
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "model_version": "AHS-2026.2",
                     *       "grade_label": "Good",
                     *       "grade_reason": "Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).",
                     *       "improvement": {
                     *         "feature": "success_rate",
                     *         "title": "Success rate",
                     *         "says": "Simulate each call before sending it, and hold back the calls that would fail",
                     *         "points": 6.4
                     *       },
                     *       "sanctions_flags": [],
                     *       "trust_routing": "instant_settle",
                     *       "chain_id": 8453,
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "stale": false,
                     *       "d1_score": 84,
                     *       "d2_score": 84,
                     *       "d3_score": null,
                     *       "mode": "2D",
                     *       "patterns": [
                     *         {
                     *           "name": "healthy_operator",
                     *           "severity": "warning",
                     *           "effect": 0,
                     *           "evidence": "217 of 224 calls to others succeeded; estimated success 96.3%"
                     *         }
                     *       ],
                     *       "trend": "stable",
                     *       "timestamp": "2026-11-20T09:58:00.000Z",
                     *       "inputs_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "published": {
                     *         "oracle": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *         "ahs_score": 84,
                     *         "grade": "B",
                     *         "safe_amount_usd": 42.5,
                     *         "as_of_block": 48210,
                     *         "tx_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *         "published_at": "2026-11-20T09:58:00.000Z"
                     *       },
                     *       "threats": [],
                     *       "reason_codes": []
                     *     }
                     */
                    "application/json": components["schemas"]["AhsRecord"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Name servers unavailable, or History unavailable, or Signer unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    score_agent: {
        parameters: {
            query?: {
                /** @description A URL of the agent, shown with the infrastructure. It counts where it equals or lies under an endpoint that the wallet's agents declare; any other is visited once and scores nothing. A URL that leads anywhere but to a public https host is refused. */
                agent_url?: string;
                /** @description Parts to add */
                include?: ("features" | "history" | "attestation" | "infrastructure")[];
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Number of the agent in the registry */
                agent_id: string;
                /** @description The ERC-8004 registry: its address on the deployment's chain in any case, or `eip155:CHAIN:ADDRESS` (CAIP-10) */
                registry: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The record */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "ahs_score": 84,
                     *       "grade": "B",
                     *       "confidence": 0.81,
                     *       "confidence_level": "HIGH",
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "model_version": "AHS-2026.2",
                     *       "grade_label": "Good",
                     *       "grade_reason": "Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).",
                     *       "improvement": {
                     *         "feature": "success_rate",
                     *         "title": "Success rate",
                     *         "says": "Simulate each call before sending it, and hold back the calls that would fail",
                     *         "points": 6.4
                     *       },
                     *       "sanctions_flags": [],
                     *       "trust_routing": "instant_settle",
                     *       "chain_id": 8453,
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "stale": false,
                     *       "d1_score": 84,
                     *       "d2_score": 84,
                     *       "d3_score": null,
                     *       "mode": "2D",
                     *       "patterns": [
                     *         {
                     *           "name": "healthy_operator",
                     *           "severity": "warning",
                     *           "effect": 0,
                     *           "evidence": "217 of 224 calls to others succeeded; estimated success 96.3%"
                     *         }
                     *       ],
                     *       "trend": "stable",
                     *       "timestamp": "2026-11-20T09:58:00.000Z",
                     *       "inputs_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "published": {
                     *         "oracle": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *         "ahs_score": 84,
                     *         "grade": "B",
                     *         "safe_amount_usd": 42.5,
                     *         "as_of_block": 48210,
                     *         "tx_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *         "published_at": "2026-11-20T09:58:00.000Z"
                     *       },
                     *       "threats": [],
                     *       "reason_codes": []
                     *     }
                     */
                    "application/json": components["schemas"]["AhsRecord"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Registry not followed, or Agent unknown, or Agent without a wallet, or Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Name servers unavailable, or History unavailable, or Signer unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    score_wallets: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "addresses": [
                 *         "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["BatchRequest"];
            };
        };
        responses: {
            /** @description The records */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "ahs_score": 84,
                     *           "grade": "B",
                     *           "confidence": 0.81,
                     *           "confidence_level": "HIGH",
                     *           "as_of_block": 48210,
                     *           "as_of_time": "2026-11-20T09:58:00.000Z",
                     *           "model_version": "AHS-2026.2",
                     *           "grade_label": "Good",
                     *           "grade_reason": "Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).",
                     *           "improvement": {
                     *             "feature": "success_rate",
                     *             "title": "Success rate",
                     *             "says": "Simulate each call before sending it, and hold back the calls that would fail",
                     *             "points": 6.4
                     *           },
                     *           "sanctions_flags": [],
                     *           "trust_routing": "instant_settle",
                     *           "chain_id": 8453,
                     *           "coverage": {
                     *             "from_block": 1,
                     *             "to_block": 48210,
                     *             "complete": true,
                     *             "sources": [
                     *               "index"
                     *             ]
                     *           },
                     *           "stale": false,
                     *           "d1_score": 84,
                     *           "d2_score": 84,
                     *           "d3_score": null,
                     *           "mode": "2D",
                     *           "patterns": [
                     *             {
                     *               "name": "healthy_operator",
                     *               "severity": "warning",
                     *               "effect": 0,
                     *               "evidence": "217 of 224 calls to others succeeded; estimated success 96.3%"
                     *             }
                     *           ],
                     *           "trend": "stable",
                     *           "timestamp": "2026-11-20T09:58:00.000Z",
                     *           "inputs_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *           "published": {
                     *             "oracle": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "ahs_score": 84,
                     *             "grade": "B",
                     *             "safe_amount_usd": 42.5,
                     *             "as_of_block": 48210,
                     *             "tx_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "published_at": "2026-11-20T09:58:00.000Z"
                     *           },
                     *           "threats": [],
                     *           "reason_codes": []
                     *         }
                     *       ],
                     *       "count": 1,
                     *       "errors": [
                     *         {
                     *           "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "problem": {
                     *             "type": "/docs#problem-not-indexed",
                     *             "title": "Wallet not indexed",
                     *             "status": 404,
                     *             "detail": "The index does not follow 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc."
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Batch"];
                };
            };
            /** @description Payment malformed, or Header malformed, or Body malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Body too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Content-Encoding unsupported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or History unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_score_history: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before, or any time: only scores as of an earlier one */
                cursor?: string;
                /** @description Maximum number of points */
                limit?: number;
                /** @description days: the last score of each UTC day. grade_changes: the first score, and each whose grade differs from the one before */
                points?: "days" | "grade_changes";
            };
            header?: never;
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the history */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "points": "days",
                     *       "history": [
                     *         {
                     *           "ahs_score": 84,
                     *           "grade": "B",
                     *           "confidence": 0.81,
                     *           "confidence_level": "HIGH",
                     *           "as_of_block": 48210,
                     *           "as_of_time": "2026-11-20T09:58:00.000Z",
                     *           "model_version": "AHS-2026.2",
                     *           "d1_score": 84,
                     *           "d2_score": 84,
                     *           "inputs_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *           "sanctioned": false,
                     *           "previous_grade": "C",
                     *           "grade_reason": "Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points)."
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ScoreHistory"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    route_payment: {
        parameters: {
            query?: {
                /** @description The payment in US dollars, with at most 6 decimals. An instant_settle of more than the available safe amount becomes escrow */
                amount_usd?: string | number;
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The decision */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "action": "instant_settle",
                     *       "ahs_score": 84,
                     *       "grade": "B",
                     *       "confidence": 0.81,
                     *       "confidence_level": "HIGH",
                     *       "scored_at": "2026-11-20T09:58:00.000Z",
                     *       "stale": false,
                     *       "grade_label": "Good",
                     *       "reason": "grade",
                     *       "policy_applied": false,
                     *       "allowlisted": false,
                     *       "backing": {
                     *         "safe_amount_usd": 42.5,
                     *         "available_usd": 30.5,
                     *         "outstanding_usd": 12,
                     *         "cost_basis_usd": 85,
                     *         "bond_usd": 0,
                     *         "as_of_block": 48190,
                     *         "as_of_time": "2026-11-20T09:58:00.000Z"
                     *       },
                     *       "threats": [],
                     *       "reason_codes": [],
                     *       "warning": "text",
                     *       "agent_health_score": 84,
                     *       "routing_recommendation": "instant_settle"
                     *     }
                     */
                    "application/json": components["schemas"]["RoutingDecision"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_routing_policy: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that the caller holds: 304 where one of them is current */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The policy, with its ETag */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "instant_grades": [
                     *         "A"
                     *       ],
                     *       "escrow_grades": [
                     *         "A"
                     *       ],
                     *       "reject_grades": [
                     *         "D",
                     *         "E",
                     *         "F"
                     *       ],
                     *       "escrow_disabled": false,
                     *       "allowlist": [
                     *         "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"
                     *       ],
                     *       "confidence_overrides": {
                     *         "B": {
                     *           "HIGH": "instant_settle"
                     *         }
                     *       },
                     *       "insufficient_action": "escrow",
                     *       "max_instant_usd": 25,
                     *       "safe_amount_multiple": 1,
                     *       "min_confidence_for_instant": "HIGH",
                     *       "threat_action": "ignore",
                     *       "updated_at": "2026-11-20T09:58:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["RoutingPolicy"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_routing_policy: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of the state that is to be replaced, or `*` for any that is stored */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "instant_grades": [
                 *         "A"
                 *       ],
                 *       "escrow_grades": [
                 *         "B",
                 *         "C"
                 *       ],
                 *       "reject_grades": [
                 *         "D",
                 *         "E",
                 *         "F"
                 *       ],
                 *       "max_instant_usd": 25,
                 *       "safe_amount_multiple": 1,
                 *       "min_confidence_for_instant": "MEDIUM"
                 *     }
                 */
                "application/json": components["schemas"]["RoutingPolicyInput"];
            };
        };
        responses: {
            /** @description The policy as stored, with its ETag */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "instant_grades": [
                     *         "A"
                     *       ],
                     *       "escrow_grades": [
                     *         "A"
                     *       ],
                     *       "reject_grades": [
                     *         "D",
                     *         "E",
                     *         "F"
                     *       ],
                     *       "escrow_disabled": false,
                     *       "allowlist": [
                     *         "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"
                     *       ],
                     *       "confidence_overrides": {
                     *         "B": {
                     *           "HIGH": "instant_settle"
                     *         }
                     *       },
                     *       "insufficient_action": "escrow",
                     *       "max_instant_usd": 25,
                     *       "safe_amount_multiple": 1,
                     *       "min_confidence_for_instant": "HIGH",
                     *       "threat_action": "ignore",
                     *       "updated_at": "2026-11-20T09:58:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["RoutingPolicy"];
                };
            };
            /** @description Header malformed, or Body malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Changed meanwhile */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Body too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Content-Encoding unsupported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_subscriptions: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description Maximum number of entries on the page */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of subscriptions */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscriptions": [
                     *         {
                     *           "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *           "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "chain_id": 8453,
                     *           "webhook_url": "https://hooks.example.com/agent-health",
                     *           "events": [
                     *             "ahs.grade_changed",
                     *             "ahs.threshold_breached",
                     *             "ahs.sanctions_hit",
                     *             "ahs.confidence_changed"
                     *           ],
                     *           "thresholds": [
                     *             {
                     *               "value": "ahs_score",
                     *               "below": 70,
                     *               "current": 78
                     *             }
                     *           ],
                     *           "status": "active",
                     *           "disabled_reason": null,
                     *           "created_at": "2026-11-20T09:58:00.000Z",
                     *           "expires_at": "2026-12-20T09:58:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["Subscriptions"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_subscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As GET /alerts/subscribe/{address} answered it */
                subscription_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "webhook_url": "https://hooks.example.com/agent-health",
                     *       "events": [
                     *         "ahs.grade_changed",
                     *         "ahs.threshold_breached",
                     *         "ahs.sanctions_hit",
                     *         "ahs.confidence_changed"
                     *       ],
                     *       "thresholds": [
                     *         {
                     *           "value": "ahs_score",
                     *           "below": 70,
                     *           "current": 78
                     *         }
                     *       ],
                     *       "status": "active",
                     *       "disabled_reason": null,
                     *       "created_at": "2026-11-20T09:58:00.000Z",
                     *       "expires_at": "2026-12-20T09:58:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    end_subscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As GET /alerts/subscribe/{address} answered it */
                subscription_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription, ended */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "webhook_url": "https://hooks.example.com/agent-health",
                     *       "events": [
                     *         "ahs.grade_changed",
                     *         "ahs.threshold_breached",
                     *         "ahs.sanctions_hit",
                     *         "ahs.confidence_changed"
                     *       ],
                     *       "thresholds": [
                     *         {
                     *           "value": "ahs_score",
                     *           "below": 70,
                     *           "current": 78
                     *         }
                     *       ],
                     *       "status": "active",
                     *       "disabled_reason": null,
                     *       "created_at": "2026-11-20T09:58:00.000Z",
                     *       "expires_at": "2026-12-20T09:58:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_deliveries: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description Maximum number of entries on the page */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description As GET /alerts/subscribe/{address} answered it */
                subscription_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "deliveries": [
                     *         {
                     *           "id": "msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10",
                     *           "type": "subscription.test",
                     *           "state": "pending",
                     *           "created_at": "2026-11-20T09:58:00.000Z",
                     *           "delivered_at": "2026-11-20T09:58:00.000Z",
                     *           "next_attempt_at": "2026-11-20T09:58:00.000Z",
                     *           "payload": {
                     *             "type": "subscription.test",
                     *             "timestamp": "2026-11-20T09:58:00.000Z",
                     *             "data": {}
                     *           },
                     *           "attempts": [
                     *             {
                     *               "at": "2026-11-20T09:58:00.000Z",
                     *               "status": 503,
                     *               "latency_ms": 41,
                     *               "failure": "The endpoint answered 503."
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["Deliveries"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replay_delivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, as a quoted string or bare. For 24 hours the same request of the same caller gets the same answer without its secrets and nothing happens again; another request is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                delivery_id: string;
                /** @description As GET /alerts/subscribe/{address} answered it */
                subscription_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event, waiting again */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "delivery_id": "msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10",
                     *       "state": "pending"
                     *     }
                     */
                    "application/json": components["schemas"]["QueuedDelivery"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotate_webhook_secret: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, as a quoted string or bare. For 24 hours the same request of the same caller gets the same answer without its secrets and nothing happens again; another request is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description As GET /alerts/subscribe/{address} answered it */
                subscription_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new secret */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
                     *       "previous_valid_until": "2026-11-21T09:58:00.000Z",
                     *       "older_secret_ended": false,
                     *       "manage_token": "amt_3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs"
                     *     }
                     */
                    "application/json": components["schemas"]["RotatedSecret"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    test_subscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, as a quoted string or bare. For 24 hours the same request of the same caller gets the same answer without its secrets and nothing happens again; another request is refused. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description As GET /alerts/subscribe/{address} answered it */
                subscription_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The queued event */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "delivery_id": "msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10",
                     *       "state": "pending"
                     *     }
                     */
                    "application/json": components["schemas"]["QueuedDelivery"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    subscribe_alerts: {
        parameters: {
            query: {
                /** @description Sends an event when the confidence falls below this, 0 to 1 in at most three decimals. Nothing is below 0. */
                confidence_below?: number;
                /** @description Sends an event when the first dimension falls below this. Nothing is below 0. */
                d1_below?: number;
                /** @description Sends an event when the second dimension falls below this. Nothing is below 0. */
                d2_below?: number;
                /** @description Events to receive. Default: all events; for a running subscription, its current events. `ahs.threshold_breached` needs a threshold. */
                events?: ("ahs.grade_changed" | "ahs.threshold_breached" | "ahs.sanctions_hit" | "ahs.confidence_changed")[];
                /** @description Sends an event when the score falls below this. Nothing is below 0. */
                score_below?: number;
                /** @description Where events are POSTed. A URL that leads anywhere but to a public https host is refused, now and at every delivery; redirects are not followed. */
                webhook_url: string;
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "webhook_url": "https://hooks.example.com/agent-health",
                     *       "events": [
                     *         "ahs.grade_changed",
                     *         "ahs.threshold_breached",
                     *         "ahs.sanctions_hit",
                     *         "ahs.confidence_changed"
                     *       ],
                     *       "thresholds": [
                     *         {
                     *           "value": "ahs_score",
                     *           "below": 70,
                     *           "current": 78
                     *         }
                     *       ],
                     *       "status": "active",
                     *       "disabled_reason": null,
                     *       "created_at": "2026-11-20T09:58:00.000Z",
                     *       "expires_at": "2026-12-20T09:58:00.000Z",
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
                     *       "manage_token": "amt_3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs"
                     *     }
                     */
                    "application/json": components["schemas"]["Subscribed"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Name servers unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    compare_wallets: {
        parameters: {
            query: {
                /** @description Two to 10 distinct wallets in any case, separated by commas */
                addresses: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The wallets and their largest differences */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallets": [
                     *         {
                     *           "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "agents": [
                     *             {
                     *               "agent_id": "142",
                     *               "registry": {
                     *                 "name": "ERC-8004 identity registry",
                     *                 "address": "0x8004A818BFB912233c491871b3d84c89A494BD9e"
                     *               },
                     *               "name": "keeper 1"
                     *             }
                     *           ],
                     *           "followed": true,
                     *           "ahs_score": 84,
                     *           "grade": "B",
                     *           "confidence": 0.81,
                     *           "confidence_level": "HIGH",
                     *           "scored_at": "2026-11-20T09:58:00.000Z",
                     *           "stale": false,
                     *           "d1_score": 84,
                     *           "d2_score": 84,
                     *           "grade_reason": "Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).",
                     *           "trend": "stable",
                     *           "action": "instant_settle",
                     *           "reason": "grade",
                     *           "backing": {
                     *             "safe_amount_usd": 42.5,
                     *             "available_usd": 30.5,
                     *             "outstanding_usd": 12,
                     *             "cost_basis_usd": 85,
                     *             "bond_usd": 0,
                     *             "as_of_block": 48190,
                     *             "as_of_time": "2026-11-20T09:58:00.000Z"
                     *           },
                     *           "calls": 224,
                     *           "last_active_at": "2026-11-20T09:58:00.000Z",
                     *           "threats": [],
                     *           "reason_codes": []
                     *         }
                     *       ],
                     *       "differences": [
                     *         {
                     *           "dimension": "D1",
                     *           "name": "success_rate",
                     *           "title": "Success rate",
                     *           "points": 12.4,
                     *           "wallets": [
                     *             {
                     *               "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *               "points_lost": 2.1,
                     *               "says": "217 of 224 calls to others succeeded (96.9%)"
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Comparison"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_counterparties: {
        parameters: {
            query?: {
                /** @description `next_cursor` of an earlier answer for the same wallet: the list goes on as of the same block, whatever happened since */
                cursor?: string;
                /** @description Counterparties a page */
                limit?: number;
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the list */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "window": {
                     *         "from": "2026-05-24T09:58:00.000Z",
                     *         "to": "2026-11-20T09:58:00.000Z",
                     *         "days": 180
                     *       },
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "totals": {
                     *         "counterparties": 7,
                     *         "out": 7,
                     *         "in": 7,
                     *         "both": 7,
                     *         "interactions": 7,
                     *         "calls": 7,
                     *         "failed_calls": 7,
                     *         "transfers_in": 7,
                     *         "dust_senders": 7,
                     *         "dust_transfers": 7,
                     *         "calls_to_itself": 7,
                     *         "calls_to_nobody": 7,
                     *         "volume_out_usd": 2410.5,
                     *         "volume_in_usd": 2410.5,
                     *         "unpriced_counterparties": 7,
                     *         "own_accounts": 7,
                     *         "incoming_complete": true
                     *       },
                     *       "concentration": {
                     *         "hhi_calls": 1830,
                     *         "hhi_volume_out": 1830,
                     *         "hhi_volume_in": 1830
                     *       },
                     *       "counterparties": [
                     *         {
                     *           "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "name": "Agent 17: Delta keeper",
                     *           "labels": [
                     *             {
                     *               "label": "Agent 17: Delta keeper",
                     *               "category": "agent",
                     *               "source": "identity-registry"
                     *             }
                     *           ],
                     *           "is_contract": false,
                     *           "direction": "out",
                     *           "interactions": 7,
                     *           "calls": 7,
                     *           "failed_calls": 7,
                     *           "transfers_in": 7,
                     *           "volume_usd": 2410.5,
                     *           "volume_out": {
                     *             "value_usd": 2410.5,
                     *             "fully_priced": true,
                     *             "native_wei": "2411368784000",
                     *             "tokens": [
                     *               {
                     *                 "token": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *                 "symbol": "USDC",
                     *                 "decimals": 6,
                     *                 "verified": true,
                     *                 "amount": "2411368784000",
                     *                 "value_usd": 2410.5
                     *               }
                     *             ],
                     *             "tokens_left_out": 0
                     *           },
                     *           "volume_in": {
                     *             "value_usd": 2410.5,
                     *             "fully_priced": true,
                     *             "native_wei": "2411368784000",
                     *             "tokens": [
                     *               {
                     *                 "token": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *                 "symbol": "USDC",
                     *                 "decimals": 6,
                     *                 "verified": true,
                     *                 "amount": "2411368784000",
                     *                 "value_usd": 2410.5
                     *               }
                     *             ],
                     *             "tokens_left_out": 0
                     *           },
                     *           "first_seen": "2026-11-20T09:58:00.000Z",
                     *           "last_seen": "2026-11-20T09:58:00.000Z",
                     *           "ahs_score": 84,
                     *           "grade": "B",
                     *           "scored": true,
                     *           "sanctions_flags": [],
                     *           "mixer": false,
                     *           "owner_link": null,
                     *           "owner_group": null,
                     *           "independence": 0.998
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["Counterparties"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_epoch: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that the caller holds: 304 where one of them is current */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Number of the epoch, as in the oracle's RootPublished event */
                epoch: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The list */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "epoch": 20777,
                     *       "root": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *       "created_at": "2026-11-20T09:58:00.000Z",
                     *       "leaves": [
                     *         {
                     *           "wallet": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "record": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *           "proof": [
                     *             "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Epoch"];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_evidence: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that the caller holds: 304 where one of them is current */
                "If-None-Match"?: string;
            };
            path: {
                /** @description keccak256 of the document's bytes, `feedbackHash` or `responseHash` in the registry */
                hash: string;
                /** @description Registry that names it */
                kind: "feedback" | "validation";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agentRegistry": "eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432",
                     *       "agentId": 22,
                     *       "clientAddress": "eip155:8453:0x7a3F1cB57c1bA4F1b3b3f0aD1E4C1b3c5d6E7f80",
                     *       "createdAt": "2026-11-23T10:00:00.000Z",
                     *       "value": 82,
                     *       "valueDecimals": 0,
                     *       "tag1": "ahs",
                     *       "tag2": "AHS-2026.2",
                     *       "record": {
                     *         "ahs_score": 82,
                     *         "grade": "B",
                     *         "sanctioned": false,
                     *         "as_of_block": 38000000
                     *       }
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    diagnose_wallet: {
        parameters: {
            query?: {
                /** @description True for a free preview without a key or payment: counts and upper bounds of the findings */
                preview?: boolean;
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "account": {
                     *         "kind": "eoa",
                     *         "is_contract": false,
                     *         "delegates_to": null,
                     *         "note": null
                     *       },
                     *       "chain_id": 8453,
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "window": {
                     *         "from": "2026-05-24T09:58:00.000Z",
                     *         "to": "2026-11-20T09:58:00.000Z",
                     *         "days": 180
                     *       },
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "summary": "27 of 30 calls succeeded in 180 days. Failures cost 0.24 USD. 2 recommendations.",
                     *       "totals": {
                     *         "calls": 30,
                     *         "successes": 27,
                     *         "failures": 3,
                     *         "success_rate": 0.9,
                     *         "unread_receipts": 0
                     *       },
                     *       "first_seen": {
                     *         "block": 48210,
                     *         "time": "2026-11-20T09:58:00.000Z",
                     *         "tx_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
                     *       },
                     *       "last_seen": {
                     *         "block": 48210,
                     *         "time": "2026-11-20T09:58:00.000Z",
                     *         "tx_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
                     *       },
                     *       "gas": {
                     *         "spent": {
                     *           "wei": "2411368784000",
                     *           "eth": "0.000002411368784",
                     *           "value_usd": 0.007234
                     *         },
                     *         "wasted": {
                     *           "wei": "2411368784000",
                     *           "eth": "0.000002411368784",
                     *           "value_usd": 0.007234
                     *         },
                     *         "wasted_share": 0.081285,
                     *         "spent_per_month": {
                     *           "wei": "2411368784000",
                     *           "eth": "0.000002411368784",
                     *           "value_usd": 0.007234
                     *         },
                     *         "wasted_per_month": {
                     *           "wei": "2411368784000",
                     *           "eth": "0.000002411368784",
                     *           "value_usd": 0.007234
                     *         },
                     *         "window_days": 30
                     *       },
                     *       "failures": {
                     *         "out_of_gas": {
                     *           "failures": 3,
                     *           "wasted": {
                     *             "wei": "2411368784000",
                     *             "eth": "0.000002411368784",
                     *             "value_usd": 0.007234
                     *           }
                     *         },
                     *         "reverted": {
                     *           "failures": 3,
                     *           "wasted": {
                     *             "wei": "2411368784000",
                     *             "eth": "0.000002411368784",
                     *             "value_usd": 0.007234
                     *           }
                     *         },
                     *         "revert_reasons": null,
                     *         "by_method": [
                     *           {
                     *             "contract": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "contract_name": "Uniswap v4 universal router",
                     *             "selector": "0x3593564c",
                     *             "method": "execute(bytes,bytes[],uint256)",
                     *             "cause": "out_of_gas",
                     *             "failures": 3,
                     *             "attempts": 30,
                     *             "wasted": {
                     *               "wei": "2411368784000",
                     *               "eth": "0.000002411368784",
                     *               "value_usd": 0.007234
                     *             },
                     *             "first_at": "2026-11-20T09:58:00.000Z",
                     *             "last_at": "2026-11-20T09:58:00.000Z",
                     *             "last_tx_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "longest_run": 1,
                     *             "succeeded_since": true
                     *           }
                     *         ],
                     *         "left_out": 0
                     *       },
                     *       "activity_by_week": [
                     *         {
                     *           "week": "2026-11-16",
                     *           "calls": 7,
                     *           "failures": 3,
                     *           "spent": {
                     *             "wei": "2411368784000",
                     *             "eth": "0.000002411368784",
                     *             "value_usd": 0.007234
                     *           }
                     *         }
                     *       ],
                     *       "portfolio": {
                     *         "state": "held",
                     *         "reason": null,
                     *         "total_usd": 108,
                     *         "other_usd": null,
                     *         "unpriced_tokens": 0,
                     *         "holdings": [
                     *           {
                     *             "token": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "symbol": "USDC",
                     *             "decimals": 6,
                     *             "amount": "108000000",
                     *             "recognised": true,
                     *             "value_usd": 108,
                     *             "priced_by": "feed"
                     *           }
                     *         ]
                     *       },
                     *       "open_approvals": [
                     *         {
                     *           "token": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "spender": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "kind": "erc20_allowance",
                     *           "approved_at": "2026-11-20T09:58:00.000Z",
                     *           "last_used_at": null,
                     *           "use_known": false,
                     *           "spender_facts": {
                     *             "is_contract": false,
                     *             "existed_at": "2026-11-20T09:58:00.000Z",
                     *             "outside_users": 1,
                     *             "flag": null,
                     *             "own": false
                     *           },
                     *           "risks": [
                     *             "young",
                     *             "unknown"
                     *           ]
                     *         }
                     *       ],
                     *       "open_approvals_reason": null,
                     *       "recommendations": [
                     *         {
                     *           "kind": "simulate_first",
                     *           "severity": "warning",
                     *           "action": "Simulate calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 right before sending, and do not send those that fail.",
                     *           "reason": "2 calls of 30 reverted in 30 days and cost 0.24 USD. A simulation does not foresee every revert, so the saving is an upper bound.",
                     *           "saves_usd_per_month": 0.24,
                     *           "contract": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "contract_name": "Uniswap v4 universal router",
                     *           "selector": "0x3593564c",
                     *           "method": "execute(bytes,bytes[],uint256)",
                     *           "calls": 2,
                     *           "suggested_gas_limit": null,
                     *           "token": null,
                     *           "spender": null,
                     *           "fees": {
                     *             "wei": "2411368784000",
                     *             "eth": "0.000002411368784",
                     *             "value_usd": 0.007234
                     *           }
                     *         }
                     *       ],
                     *       "prices": {
                     *         "native_symbol": "ETH",
                     *         "native_usd": 3000,
                     *         "reason": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["HealthReport"] | components["schemas"]["ReportPreview"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or History unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_input_file: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that the caller holds: 304 where one of them is current */
                "If-None-Match"?: string;
            };
            path: {
                /** @description keccak256 of the file's RFC 8785 form for inputs and policies; its SHA-256 for all others */
                hash: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": "AHS-2026.2"
                     *     }
                     */
                    "application/json": Record<string, never> | unknown[];
                };
            };
            /** @description Unchanged since the ETag in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    buy_key: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "credits_usd": 25
                 *     }
                 */
                "application/json": components["schemas"]["CreditsInput"];
            };
        };
        responses: {
            /** @description The key */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "api_key": "ahs_Zk3vQ9aBxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                     *       "key_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "key_prefix": "ahs_Zk3vQ9aB",
                     *       "name": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "balance_usd": 25,
                     *       "rate_per_minute": 600,
                     *       "expires_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["BoughtKey"];
                };
            };
            /** @description Payment malformed, or Header malformed, or Body malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Body too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Content-Encoding unsupported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotate_key: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, as a quoted string or bare. For 24 hours the same request of the same caller gets the same answer without its secrets and nothing happens again; another request is refused. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["RotateKeyInput"];
            };
        };
        responses: {
            /** @description The key with its new secret */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "api_key": "ahs_Zk3vQ9aBxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                     *       "key_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "key_prefix": "ahs_Zk3vQ9aB",
                     *       "name": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "balance_usd": 25,
                     *       "rate_per_minute": 600,
                     *       "expires_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["RotatedKey"];
                };
            };
            /** @description Header malformed, or Body malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Body too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Content-Encoding unsupported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_balance: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "key_prefix": "ahs_Zk3vQ9aB",
                     *       "name": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "balance_usd": 25,
                     *       "rate_per_minute": 600,
                     *       "expires_at": null,
                     *       "partner": false,
                     *       "bought_by": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "created_at": "2026-11-20T09:58:00.000Z",
                     *       "spent": {
                     *         "from": "2026-11-20T09:58:00.000Z",
                     *         "to": "2026-11-20T09:58:00.000Z",
                     *         "total_usd": 1.12,
                     *         "endpoints": [
                     *           {
                     *             "endpoint": "GET /ahs/{address}",
                     *             "calls": 1,
                     *             "spent_usd": 1
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["KeySelf"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    top_up_key: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "credits_usd": 25
                 *     }
                 */
                "application/json": components["schemas"]["CreditsInput"];
            };
        };
        responses: {
            /** @description The key with its new balance */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                     *       "key_prefix": "ahs_Zk3vQ9aB",
                     *       "name": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "balance_usd": 25,
                     *       "rate_per_minute": 600,
                     *       "expires_at": null,
                     *       "credited_usd": 25
                     *     }
                     */
                    "application/json": components["schemas"]["ToppedUpKey"];
                };
            };
            /** @description Payment malformed, or Header malformed, or Body malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Body too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Content-Encoding unsupported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_liveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It runs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": {
                        /** @enum {string} */
                        status: "ok";
                    };
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    map_network: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Nodes and edges */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "window": {
                     *         "from": "2026-05-24T09:58:00.000Z",
                     *         "to": "2026-11-20T09:58:00.000Z",
                     *         "days": 180
                     *       },
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "cluster": null,
                     *       "cluster_size": 1,
                     *       "nodes": [
                     *         {
                     *           "id": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "kind": "agent",
                     *           "name": "Agent 17: Delta keeper",
                     *           "labels": [
                     *             {
                     *               "label": "Agent 17: Delta keeper",
                     *               "category": "agent",
                     *               "source": "identity-registry"
                     *             }
                     *           ],
                     *           "is_contract": false,
                     *           "ahs_score": 84,
                     *           "grade": "B",
                     *           "flags": [],
                     *           "hops": 0,
                     *           "cluster": null
                     *         }
                     *       ],
                     *       "edges": [
                     *         {
                     *           "from": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "to": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "kind": "paid",
                     *           "calls": 36,
                     *           "volume_usd": 490.038991,
                     *           "first_seen": "2026-11-20T09:58:00.000Z",
                     *           "last_seen": "2026-11-20T09:58:00.000Z"
                     *         }
                     *       ],
                     *       "truncated": false,
                     *       "left_out": {
                     *         "nodes": 0,
                     *         "edges": 0,
                     *         "at_least": false
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["NetworkMap"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    optimize_gas: {
        parameters: {
            query?: {
                /** @description True for a free preview without a key or payment: counts and upper bounds of the findings */
                preview?: boolean;
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "window": {
                     *         "from": "2026-05-24T09:58:00.000Z",
                     *         "to": "2026-11-20T09:58:00.000Z",
                     *         "days": 180
                     *       },
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "summary": "1 recommendation saves at most 0.24 USD a month.",
                     *       "charged": true,
                     *       "recommendations": [
                     *         {
                     *           "kind": "simulate_first",
                     *           "severity": "warning",
                     *           "action": "Simulate calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 right before sending, and do not send those that fail.",
                     *           "reason": "2 calls of 30 reverted in 30 days and cost 0.24 USD. A simulation does not foresee every revert, so the saving is an upper bound.",
                     *           "saves_usd_per_month": 0.24,
                     *           "contract": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "contract_name": "Uniswap v4 universal router",
                     *           "selector": "0x3593564c",
                     *           "method": "execute(bytes,bytes[],uint256)",
                     *           "calls": 2,
                     *           "suggested_gas_limit": null,
                     *           "token": null,
                     *           "spender": null,
                     *           "fees": {
                     *             "wei": "2411368784000",
                     *             "eth": "0.000002411368784",
                     *             "value_usd": 0.007234
                     *           }
                     *         }
                     *       ],
                     *       "smaller_savings": {
                     *         "count": 0,
                     *         "saves_usd_per_month": 0
                     *       },
                     *       "window_days": 30,
                     *       "methods": [
                     *         {
                     *           "contract": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "contract_name": "Uniswap v4 universal router",
                     *           "selector": "0x3593564c",
                     *           "method": "execute(bytes,bytes[],uint256)",
                     *           "calls": 30,
                     *           "failures": 3,
                     *           "spent": {
                     *             "wei": "2411368784000",
                     *             "eth": "0.000002411368784",
                     *             "value_usd": 0.007234
                     *           },
                     *           "wasted": {
                     *             "wei": "2411368784000",
                     *             "eth": "0.000002411368784",
                     *             "value_usd": 0.007234
                     *           },
                     *           "overpaid": {
                     *             "wei": "2411368784000",
                     *             "eth": "0.000002411368784",
                     *             "value_usd": 0.007234
                     *           },
                     *           "overpaid_known_calls": 30,
                     *           "saving": {
                     *             "wei": "2411368784000",
                     *             "eth": "0.000002411368784",
                     *             "value_usd": 0.007234
                     *           },
                     *           "saves_usd_per_month": 0.24,
                     *           "gas_limit": {
                     *             "state": "fits",
                     *             "samples": 27,
                     *             "small_sample": false,
                     *             "median_limit": "250000",
                     *             "highest_limit": "250000",
                     *             "p50_used": "250000",
                     *             "p95_used": "250000",
                     *             "max_used": "250000",
                     *             "median_limit_over_p95_used": 1.388,
                     *             "highest_limit_that_ran_out": "250000",
                     *             "suggested_limit": "312500",
                     *             "reason": "The gas limit suits the calls."
                     *           },
                     *           "savings": [
                     *             {
                     *               "kind": "simulate_first",
                     *               "calls": 2,
                     *               "saving": {
                     *                 "wei": "2411368784000",
                     *                 "eth": "0.000002411368784",
                     *                 "value_usd": 0.007234
                     *               },
                     *               "saves_usd_per_month": 0.24
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "other_methods": null,
                     *       "totals": {
                     *         "methods": 0,
                     *         "calls": 30,
                     *         "failures": 3,
                     *         "spent": {
                     *           "wei": "2411368784000",
                     *           "eth": "0.000002411368784",
                     *           "value_usd": 0.007234
                     *         },
                     *         "wasted": {
                     *           "wei": "2411368784000",
                     *           "eth": "0.000002411368784",
                     *           "value_usd": 0.007234
                     *         },
                     *         "overpaid": {
                     *           "wei": "2411368784000",
                     *           "eth": "0.000002411368784",
                     *           "value_usd": 0.007234
                     *         },
                     *         "overpaid_known_calls": 30,
                     *         "saving": {
                     *           "wei": "2411368784000",
                     *           "eth": "0.000002411368784",
                     *           "value_usd": 0.007234
                     *         },
                     *         "saves_usd_per_month": 0.24
                     *       },
                     *       "prices": {
                     *         "native_symbol": "ETH",
                     *         "native_usd": 3000,
                     *         "reason": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OptimizeReport"] | components["schemas"]["ReportPreview"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_owed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payments */
            200: {
                headers: {
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "owed": [
                     *         {
                     *           "endpoint": "GET /ahs/{address}",
                     *           "resource": "/ahs/0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "payer": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "amount_usd": 1,
                     *           "scheme": "exact",
                     *           "transaction_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *           "settled_at": "2026-11-20T09:58:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OwedPayments"];
                };
            };
            /** @description Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither API key nor sign-in, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Database unavailable, or Node unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_owner_wallets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The wallets, with the links that show the owner */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "note": "Links by creator, first funder or mutual funding are evidence of one owner, not proof: a service may create or fund wallets of different owners.",
                     *       "summary": {
                     *         "wallets": 1,
                     *         "grades": {
                     *           "A": 0,
                     *           "B": 1,
                     *           "C": 0,
                     *           "D": 0,
                     *           "E": 0,
                     *           "F": 0,
                     *           "none": 0
                     *         },
                     *         "worst_grade": "B",
                     *         "sanctioned": 0,
                     *         "safe_amount_usd": 42.5
                     *       },
                     *       "wallets": [
                     *         {
                     *           "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "agents": [
                     *             {
                     *               "agent_id": "142",
                     *               "registry": {
                     *                 "name": "ERC-8004 identity registry",
                     *                 "address": "0x8004A818BFB912233c491871b3d84c89A494BD9e"
                     *               },
                     *               "name": "keeper 1"
                     *             }
                     *           ],
                     *           "ahs_score": 84,
                     *           "grade": "B",
                     *           "confidence": 0.81,
                     *           "confidence_level": "HIGH",
                     *           "scored_at": "2026-11-20T09:58:00.000Z",
                     *           "stale": false,
                     *           "trust_routing": "instant_settle",
                     *           "sanctioned": false,
                     *           "safe_amount_usd": 42.5,
                     *           "last_active_at": "2026-11-20T09:58:00.000Z",
                     *           "owner_link": "itself",
                     *           "evidence": []
                     *         }
                     *       ],
                     *       "truncated": false,
                     *       "left_out": {
                     *         "wallets": 0,
                     *         "at_least": false
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OwnerCluster"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Database unavailable */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_readiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ready */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "checks": {
                     *         "server": {
                     *           "ok": true,
                     *           "detail": "answers"
                     *         },
                     *         "database": {
                     *           "ok": true,
                     *           "detail": "answers"
                     *         }
                     *       },
                     *       "index": {
                     *         "ok": true,
                     *         "detail": "answers"
                     *       },
                     *       "sanctions": [
                     *         {
                     *           "source": "chainalysis-oracle",
                     *           "checked_at": "2026-11-20T09:58:00.000Z",
                     *           "age_seconds": 3,
                     *           "edition": "block 48210",
                     *           "entries": 91,
                     *           "list_hash": "0x3e9cc35d2f8e9d8f5e0a4b2a4e2c7b8fb38d1f1f4c5c0e6d4f3d2c1b0a998877",
                     *           "unchecked_wallets": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not ready, or Deadline exceeded, or Shutting down */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    draw_report_card: {
        parameters: {
            query?: {
                /** @description json, or a picture of 1200 × 630 pixels */
                format?: "json" | "png" | "svg";
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report card */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "name": "payment-agent 0",
                     *       "name_verified": false,
                     *       "chain_id": 8453,
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "window": {
                     *         "from": "2026-05-24T09:58:00.000Z",
                     *         "to": "2026-11-20T09:58:00.000Z",
                     *         "days": 180
                     *       },
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "ahs_score": 84,
                     *       "grade": "B",
                     *       "confidence": 0.81,
                     *       "confidence_level": "HIGH",
                     *       "model_version": "AHS-2026.2",
                     *       "grade_label": "Good",
                     *       "grade_reason": "Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).",
                     *       "improvement": {
                     *         "feature": "success_rate",
                     *         "title": "Success rate",
                     *         "says": "Simulate each call before sending it, and hold back the calls that would fail",
                     *         "points": 6.4
                     *       },
                     *       "sanctions_flags": [],
                     *       "trust_routing": "instant_settle",
                     *       "stale": false,
                     *       "chain_name": "Base",
                     *       "verify_url": "https://ahs.example/wallet/0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "dimensions": [
                     *         {
                     *           "dimension": "D1",
                     *           "title": "Wallet hygiene",
                     *           "weight": 0.3,
                     *           "score": 84,
                     *           "features": [
                     *             {
                     *               "dimension": "D1",
                     *               "name": "success_rate",
                     *               "title": "Success rate",
                     *               "says": "217 of 224 calls to others succeeded (96.9%)",
                     *               "value": 0.9634,
                     *               "unit": "share of calls",
                     *               "samples": 224,
                     *               "state": "measured",
                     *               "score": 89.71,
                     *               "weight": 0.3,
                     *               "contribution": 26.92,
                     *               "inputs": {
                     *                 "calls": 224,
                     *                 "succeeded": 217,
                     *                 "succeeded_share": 0.969,
                     *                 "estimated_share": 0.963
                     *               },
                     *               "reason": null
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "adjustments": [],
                     *       "patterns": [
                     *         {
                     *           "name": "healthy_operator",
                     *           "title": "Healthy operator",
                     *           "severity": "warning",
                     *           "effect": 0,
                     *           "evidence": "217 of 224 calls to others succeeded; estimated success 96.3%"
                     *         }
                     *       ],
                     *       "benchmark": {
                     *         "scored_wallets": 38,
                     *         "rank": 26,
                     *         "percentile": 31.6,
                     *         "average_score": 77.1,
                     *         "grade_distribution": {
                     *           "A": 24,
                     *           "B": 2,
                     *           "C": 1,
                     *           "D": 4,
                     *           "E": 2,
                     *           "F": 5
                     *         },
                     *         "score_distribution": [
                     *           {
                     *             "from": 0,
                     *             "to": 9,
                     *             "wallets": 3
                     *           },
                     *           {
                     *             "from": 10,
                     *             "to": 19,
                     *             "wallets": 2
                     *           },
                     *           {
                     *             "from": 20,
                     *             "to": 29,
                     *             "wallets": 0
                     *           },
                     *           {
                     *             "from": 30,
                     *             "to": 39,
                     *             "wallets": 2
                     *           },
                     *           {
                     *             "from": 40,
                     *             "to": 49,
                     *             "wallets": 1
                     *           },
                     *           {
                     *             "from": 50,
                     *             "to": 59,
                     *             "wallets": 3
                     *           },
                     *           {
                     *             "from": 60,
                     *             "to": 69,
                     *             "wallets": 1
                     *           },
                     *           {
                     *             "from": 70,
                     *             "to": 79,
                     *             "wallets": 0
                     *           },
                     *           {
                     *             "from": 80,
                     *             "to": 89,
                     *             "wallets": 2
                     *           },
                     *           {
                     *             "from": 90,
                     *             "to": 100,
                     *             "wallets": 24
                     *           }
                     *         ]
                     *       },
                     *       "history": [
                     *         {
                     *           "as_of_time": "2026-11-20T09:58:00.000Z",
                     *           "ahs_score": 84,
                     *           "grade": "B"
                     *         }
                     *       ],
                     *       "timestamp": "2026-11-20T09:58:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ReportCard"];
                    "image/png": string;
                    "image/svg+xml": string;
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    plan_retries: {
        parameters: {
            query?: {
                /** @description True for a free preview without a key or payment: counts and upper bounds of the findings */
                preview?: boolean;
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Offers, and what is not offered */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "window": {
                     *         "from": "2026-05-24T09:58:00.000Z",
                     *         "to": "2026-11-20T09:58:00.000Z",
                     *         "days": 180
                     *       },
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "summary": "1 of 2 failed transactions of the last 30 days can be repeated now.",
                     *       "charged": true,
                     *       "account": "eoa",
                     *       "simulated_at": {
                     *         "block": 48210,
                     *         "block_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *         "time": "2026-11-20T09:58:00.000Z"
                     *       },
                     *       "pending_transactions": 0,
                     *       "failures_found": 2,
                     *       "offers": [
                     *         {
                     *           "failure": {
                     *             "hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "block": 48210,
                     *             "time": "2026-11-20T09:58:00.000Z",
                     *             "nonce": 409,
                     *             "to": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "selector": "0x322e9f04",
                     *             "value": "0",
                     *             "gas_limit": "90000",
                     *             "gas_used": "24112",
                     *             "fee_wei": "2411368784000",
                     *             "fee_complete": true,
                     *             "intent": "other",
                     *             "cause": "reverted",
                     *             "cause_reason": "InsufficientBalance()"
                     *           },
                     *           "transaction": {
                     *             "type": "eip1559",
                     *             "chainId": 8453,
                     *             "nonce": 412,
                     *             "to": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "data": "0x322e9f04",
                     *             "value": "0",
                     *             "gas": "60126",
                     *             "maxFeePerGas": "100014000",
                     *             "maxPriorityFeePerGas": "100000000",
                     *             "serialized": "0x02ef827a6982019c8405f5e1008405f617b082eade945fc8d32690cc91d4c39d9d3abcbd16989f8757078084322e9f04c0"
                     *           },
                     *           "simulation": {
                     *             "passes": true,
                     *             "block": 48210,
                     *             "gas_estimate": "48100"
                     *           },
                     *           "max_cost_wei": "6013441764000",
                     *           "max_cost_usd": 0.012027
                     *         }
                     *       ],
                     *       "simulated_in_order": true,
                     *       "total_max_cost_wei": "6013441764000",
                     *       "total_max_cost_usd": 0.012027,
                     *       "not_retried": [
                     *         {
                     *           "failure": {
                     *             "hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "block": 48210,
                     *             "time": "2026-11-20T09:58:00.000Z",
                     *             "nonce": 409,
                     *             "to": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "selector": "0x322e9f04",
                     *             "value": "0",
                     *             "gas_limit": "90000",
                     *             "gas_used": "24112",
                     *             "fee_wei": "2411368784000",
                     *             "fee_complete": true,
                     *             "intent": "other",
                     *             "cause": "reverted",
                     *             "cause_reason": "InsufficientBalance()"
                     *           },
                     *           "reason": "wallet_listed",
                     *           "detail": "The wallet is on a sanctions list.",
                     *           "by": null
                     *         }
                     *       ],
                     *       "executions": [
                     *         {
                     *           "hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *           "position": 0,
                     *           "block": 48210,
                     *           "time": "2026-11-20T09:58:00.000Z",
                     *           "to": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "selector": "0x322e9f04"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RetryReport"] | components["schemas"]["ReportPreview"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Node unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_risk: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The risk */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "risk_score": 16,
                     *       "risk_level": "LOW",
                     *       "verdict": "Low risk: 12.4% of its fees were spent on failed calls, gas prices 100 of 100.",
                     *       "signals": [
                     *         {
                     *           "name": "gas_efficiency",
                     *           "severity": "warning",
                     *           "detail": "12.4% of its fees were spent on failed calls, gas prices 100 of 100"
                     *         }
                     *       ],
                     *       "sanctions_flags": [],
                     *       "threats": [],
                     *       "reason_codes": [],
                     *       "sanctions_as_of_block": 48210,
                     *       "counterparty_exposure": {
                     *         "share": 0.004,
                     *         "listed_share": 0,
                     *         "failing_share": 0.004,
                     *         "sent_usd": 18240.5,
                     *         "counterparties": 12,
                     *         "listed_counterparties": 0,
                     *         "failing_counterparties": 1,
                     *         "truncated": false,
                     *         "since": "2026-11-20T09:58:00.000Z",
                     *         "as_of_block": 48210
                     *       },
                     *       "counterparty_exposure_reason": null,
                     *       "ahs_score": 84,
                     *       "grade": "B",
                     *       "confidence": 0.81,
                     *       "confidence_level": "HIGH",
                     *       "scored_at": "2026-11-20T09:58:00.000Z",
                     *       "stale": false,
                     *       "reason": "scored",
                     *       "as_of_block": 48210,
                     *       "chain_id": 8453
                     *     }
                     */
                    "application/json": components["schemas"]["Risk"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_premium_risk: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The risk and what is behind it */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "risk_score": 16,
                     *       "risk_level": "LOW",
                     *       "verdict": "Low risk: 12.4% of its fees were spent on failed calls, gas prices 100 of 100.",
                     *       "signals": [
                     *         {
                     *           "name": "gas_efficiency",
                     *           "severity": "warning",
                     *           "detail": "12.4% of its fees were spent on failed calls, gas prices 100 of 100"
                     *         }
                     *       ],
                     *       "sanctions_flags": [],
                     *       "threats": [],
                     *       "reason_codes": [],
                     *       "sanctions_as_of_block": 48210,
                     *       "counterparty_exposure": {
                     *         "share": 0.004,
                     *         "listed_share": 0,
                     *         "failing_share": 0.004,
                     *         "sent_usd": 18240.5,
                     *         "counterparties": 12,
                     *         "listed_counterparties": 0,
                     *         "failing_counterparties": 1,
                     *         "truncated": false,
                     *         "since": "2026-11-20T09:58:00.000Z",
                     *         "as_of_block": 48210
                     *       },
                     *       "counterparty_exposure_reason": null,
                     *       "ahs_score": 84,
                     *       "grade": "B",
                     *       "confidence": 0.81,
                     *       "confidence_level": "HIGH",
                     *       "scored_at": "2026-11-20T09:58:00.000Z",
                     *       "stale": false,
                     *       "reason": "scored",
                     *       "as_of_block": 48210,
                     *       "chain_id": 8453,
                     *       "labels": [
                     *         {
                     *           "label": "Dex Trader",
                     *           "category": "defi",
                     *           "source": "nansen"
                     *         }
                     *       ],
                     *       "labels_available": true,
                     *       "labels_unavailable_reason": null,
                     *       "label_providers": [
                     *         {
                     *           "provider": "nansen",
                     *           "available": true,
                     *           "reason": null,
                     *           "read_at": "2026-11-20T09:58:00.000Z"
                     *         }
                     *       ],
                     *       "pnl": {
                     *         "chain_id": 8453,
                     *         "as_of_block": 48210,
                     *         "as_of_time": "2026-11-20T09:58:00.000Z",
                     *         "window": {
                     *           "from": "2026-05-24T09:58:00.000Z",
                     *           "to": "2026-11-20T09:58:00.000Z",
                     *           "days": 180
                     *         },
                     *         "coverage": {
                     *           "from_block": 1,
                     *           "to_block": 48210,
                     *           "complete": true,
                     *           "sources": [
                     *             "index"
                     *           ]
                     *         },
                     *         "realised_usd": 500,
                     *         "unrealised_usd": 500,
                     *         "fees_usd": 12.6,
                     *         "trades": 3,
                     *         "sales": 1,
                     *         "wins": 1,
                     *         "losses": 0,
                     *         "win_rate": 1,
                     *         "unpriced_share": 0,
                     *         "returns": 0,
                     *         "zero_valued_transfers": 0,
                     *         "unread_receipts": 0,
                     *         "method": "fifo-1",
                     *         "token_count": 1,
                     *         "tokens": [
                     *           {
                     *             "token": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "symbol": "WETH",
                     *             "decimals": 18,
                     *             "verified": false,
                     *             "currency": false,
                     *             "bought": "500000000000000000",
                     *             "sold": "500000000000000000",
                     *             "received": "500000000000000000",
                     *             "sent": "500000000000000000",
                     *             "sold_without_cost": "500000000000000000",
                     *             "held": "500000000000000000",
                     *             "realised_usd": 500,
                     *             "cost_usd": 500,
                     *             "value_usd": 500,
                     *             "unrealised_usd": 500,
                     *             "priced_by": "feed",
                     *             "sales": 0,
                     *             "wins": 0,
                     *             "losses": 0,
                     *             "returns": 0,
                     *             "unpriced_legs": 0
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PremiumRisk"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    scan_financial_health: {
        parameters: {
            query?: {
                /** @description True for a free preview without a key or payment: counts and upper bounds of the findings */
                preview?: boolean;
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters, quoted or bare. For 24 hours a repeat of the request by the same caller gets the same answer and is charged once; another request is refused. A random key of 22 or more characters also lets a payer fetch a paid answer that was lost (not for POST /keys). */
                "Idempotency-Key"?: string;
                /** @description Claim from a 503 answer; retrieves the answer that is already paid for */
                "X-Payment-Claim"?: string;
                /** @description The most that this caller may be charged in its session (`Mcp-Session-Id`), or without one on this UTC day, in US dollars with at most three decimals. Beyond it the answer is 403, uncharged */
                "X-Spending-Limit-Usd"?: string;
            };
            path: {
                /** @description Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55. */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report */
            200: {
                headers: {
                    /** @description The settlement of an x402 payment with a signed receipt (`offer-receipt`), as base64 of JSON */
                    "PAYMENT-RESPONSE"?: string;
                    /** @description Calls left, and the seconds until all calls are available again */
                    RateLimit?: string;
                    /** @description Calls a minute of the caller, as in "key";q=600;w=60 */
                    "RateLimit-Policy"?: string;
                    /** @description US dollars left on the API key, or `unlimited`; omitted without a key */
                    "X-Balance-Usd"?: string;
                    /** @description US dollars that this request charged, with three decimals; 0.000 for a repeat or a free call */
                    "X-Charged-Usd"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *       "chain_id": 8453,
                     *       "as_of_block": 48210,
                     *       "as_of_time": "2026-11-20T09:58:00.000Z",
                     *       "window": {
                     *         "from": "2026-05-24T09:58:00.000Z",
                     *         "to": "2026-11-20T09:58:00.000Z",
                     *         "days": 180
                     *       },
                     *       "coverage": {
                     *         "from_block": 1,
                     *         "to_block": 48210,
                     *         "complete": true,
                     *         "sources": [
                     *           "index"
                     *         ]
                     *       },
                     *       "summary": "Cleanliness 100 of 100. 1 note.",
                     *       "sanctions_flags": [],
                     *       "cleanliness_score": 90,
                     *       "cleanliness_reason": null,
                     *       "cleanliness_range": {
                     *         "lowest": 90,
                     *         "highest": 90
                     *       },
                     *       "activity": 30,
                     *       "deductions": [
                     *         {
                     *           "name": "dust",
                     *           "points": 0,
                     *           "max_points": 10,
                     *           "found": 0,
                     *           "reason": "0 acquired tokens are worth less than 0.01 USD; 2 points each."
                     *         }
                     *       ],
                     *       "issues": [
                     *         {
                     *           "category": "received",
                     *           "severity": "warning",
                     *           "description": "Others sent 1 unrecognised token to the wallet. This takes no points.",
                     *           "action": "Do not approve, swap or claim these tokens: spam is sent to make wallets do so.",
                     *           "token": null,
                     *           "account": null,
                     *           "value_usd": null,
                     *           "found": 1
                     *         }
                     *       ],
                     *       "issues_by_severity": {
                     *         "critical": 0,
                     *         "warning": 0,
                     *         "info": 1
                     *       },
                     *       "portfolio": {
                     *         "state": "held",
                     *         "reason": null,
                     *         "total_usd": 108,
                     *         "other_usd": null,
                     *         "unpriced_tokens": 0,
                     *         "holdings": [
                     *           {
                     *             "token": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "symbol": "USDC",
                     *             "decimals": 6,
                     *             "amount": "108000000",
                     *             "recognised": true,
                     *             "value_usd": 108,
                     *             "priced_by": "feed"
                     *           }
                     *         ]
                     *       },
                     *       "received": {
                     *         "spam_tokens": 1,
                     *         "dust_tokens": 0,
                     *         "transfers": 3,
                     *         "truncated": false,
                     *         "tokens": [
                     *           {
                     *             "token": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "symbol": null,
                     *             "standard": "erc20",
                     *             "kind": "spam",
                     *             "transfers": 3,
                     *             "senders": 1,
                     *             "amount": "108000000",
                     *             "value_usd": null,
                     *             "last_at": "2026-11-20T09:58:00.000Z"
                     *           }
                     *         ],
                     *         "left_out": 0
                     *       },
                     *       "open_approvals": [
                     *         {
                     *           "token": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "spender": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *           "kind": "erc20_allowance",
                     *           "approved_at": "2026-11-20T09:58:00.000Z",
                     *           "last_used_at": null,
                     *           "use_known": false,
                     *           "spender_facts": {
                     *             "is_contract": false,
                     *             "existed_at": "2026-11-20T09:58:00.000Z",
                     *             "outside_users": 1,
                     *             "flag": null,
                     *             "own": false
                     *           },
                     *           "risks": [
                     *             "young",
                     *             "unknown"
                     *           ]
                     *         }
                     *       ],
                     *       "open_approvals_reason": null,
                     *       "self_dealing": {
                     *         "own_share": 0,
                     *         "is_pattern": false,
                     *         "circles": [
                     *           {
                     *             "counterparty": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "own": false,
                     *             "token": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                     *             "times": 2,
                     *             "amount": "108000000",
                     *             "last_out_tx": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "last_back_tx": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                     *             "last_at": "2026-11-20T09:58:00.000Z"
                     *           }
                     *         ],
                     *         "truncated": false
                     *       },
                     *       "prices": {
                     *         "native_symbol": "ETH",
                     *         "native_usd": 3000,
                     *         "reason": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WashReport"] | components["schemas"]["ReportPreview"];
                };
            };
            /** @description Payment malformed, or Header malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description API key missing, or API key unknown, or API key expired, or API key revoked, or Sign-in invalid */
            401: {
                headers: {
                    /** @description What is asked for */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payment required, or API key balance insufficient */
            402: {
                headers: {
                    /** @description The body, as base64 of JSON */
                    "PAYMENT-REQUIRED"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Caller's spending limit reached */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Wallet not indexed */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request with this Idempotency-Key or payment identifier under way, or Payment in use by another request, or Payment identifier used for another request */
            409: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path and query too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Path, query or body are invalid, or Idempotency-Key used for another request */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Rate limit exceeded */
            429: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Internal error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Deadline exceeded, or Shutting down, or Index unavailable, or Index behind the chain, or Scoring unavailable, or Database unavailable, or Payments unavailable, or Settlement too dear now, or Settlement pending, or Paid answer owed */
            503: {
                headers: {
                    /** @description Seconds after which another attempt makes sense */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    webhook_ahs_confidence_changed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "ahs.confidence_changed",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                 *         "chain_id": 8453,
                 *         "previous": {
                 *           "grade": "B",
                 *           "ahs_score": 84,
                 *           "trust_routing": "instant_settle"
                 *         },
                 *         "current": {
                 *           "grade": "C",
                 *           "ahs_score": 68,
                 *           "trust_routing": "escrow"
                 *         },
                 *         "confidence": 0.81,
                 *         "confidence_level": "HIGH",
                 *         "as_of_block": 48210,
                 *         "as_of_time": "2026-11-20T09:58:00.000Z",
                 *         "inputs_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                 *         "previous_confidence": 0.59,
                 *         "previous_confidence_level": "MEDIUM"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ConfidenceChangedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_ahs_grade_changed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "ahs.grade_changed",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                 *         "chain_id": 8453,
                 *         "previous": {
                 *           "grade": "B",
                 *           "ahs_score": 84,
                 *           "trust_routing": "instant_settle"
                 *         },
                 *         "current": {
                 *           "grade": "C",
                 *           "ahs_score": 68,
                 *           "trust_routing": "escrow"
                 *         },
                 *         "confidence": 0.81,
                 *         "confidence_level": "HIGH",
                 *         "as_of_block": 48210,
                 *         "as_of_time": "2026-11-20T09:58:00.000Z",
                 *         "inputs_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["GradeChangedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_ahs_sanctions_hit: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "ahs.sanctions_hit",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                 *         "chain_id": 8453,
                 *         "previous": {
                 *           "grade": "B",
                 *           "ahs_score": 84,
                 *           "trust_routing": "instant_settle"
                 *         },
                 *         "current": {
                 *           "grade": "C",
                 *           "ahs_score": 68,
                 *           "trust_routing": "escrow"
                 *         },
                 *         "confidence": 0.81,
                 *         "confidence_level": "HIGH",
                 *         "as_of_block": 48210,
                 *         "as_of_time": "2026-11-20T09:58:00.000Z",
                 *         "inputs_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                 *         "sanctions_flags": [
                 *           {
                 *             "source": "chainalysis-oracle",
                 *             "reference": "block 48188",
                 *             "detected_at": "2026-11-20T09:58:00.000Z"
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SanctionsHitEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_ahs_threshold_breached: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "ahs.threshold_breached",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                 *         "chain_id": 8453,
                 *         "previous": {
                 *           "grade": "B",
                 *           "ahs_score": 84,
                 *           "trust_routing": "instant_settle"
                 *         },
                 *         "current": {
                 *           "grade": "C",
                 *           "ahs_score": 68,
                 *           "trust_routing": "escrow"
                 *         },
                 *         "confidence": 0.81,
                 *         "confidence_level": "HIGH",
                 *         "as_of_block": 48210,
                 *         "as_of_time": "2026-11-20T09:58:00.000Z",
                 *         "inputs_hash": "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                 *         "breached": [
                 *           {
                 *             "value": "ahs_score",
                 *             "below": 70,
                 *             "previous": 78,
                 *             "current": 68
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ThresholdBreachedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_subscription_expiring: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "subscription.expiring",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                 *         "chain_id": 8453,
                 *         "events": [
                 *           "ahs.grade_changed",
                 *           "ahs.threshold_breached",
                 *           "ahs.sanctions_hit",
                 *           "ahs.confidence_changed"
                 *         ],
                 *         "expires_at": "2026-12-20T09:58:00.000Z",
                 *         "notice_days": 3
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SubscriptionExpiringEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhook_subscription_test: {
        parameters: {
            query?: never;
            header: {
                /** @description The same at every attempt: a delivery may come twice, an event only once */
                "webhook-id": string;
                /** @description Standard Webhooks 1.0.0: `v1,` and the base64 HMAC-SHA256 of id, timestamp and raw body */
                "webhook-signature": string;
                /** @description Unix seconds of the attempt */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "subscription.test",
                 *       "timestamp": "2026-11-20T09:58:00.000Z",
                 *       "data": {
                 *         "subscription_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                 *         "address": "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
                 *         "chain_id": 8453,
                 *         "events": [
                 *           "ahs.grade_changed",
                 *           "ahs.threshold_breached",
                 *           "ahs.sanctions_hit",
                 *           "ahs.confidence_changed"
                 *         ],
                 *         "thresholds": [
                 *           {
                 *             "value": "ahs_score",
                 *             "below": 70,
                 *             "current": 78
                 *           }
                 *         ],
                 *         "expires_at": "2026-12-20T09:58:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SubscriptionTestEvent"];
            };
        };
        responses: {
            /** @description Any 2xx is a delivery; 410 ends all of them; everything else is tried again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
