/** Group roles of PostgreSQL, one for each kind of process; the users of its processes are members of it. */
export const ROLES = ["ahs_index", "ahs_serve", "ahs_work"] as const;
export type RoleName = (typeof ROLES)[number];

/**
 * Functions of large objects, as a regular expression: PostgreSQL lets every user store large objects until the disk is full. No
 * process of ours uses one.
 */
export const LARGE_OBJECT_FUNCTIONS = "^(lo_|loread$|lowrite$)";

const READ = "select";
const APPEND = "select, insert";
const EDIT = "select, insert, update";
const ALL = "select, insert, update, delete";
/** Rows of a chain that was replaced are cleared, and never read. */
const CLEAR = "select (chain_id), delete";

/** Only the worker signs: a reader of a signed transaction could send it. */
const SENDER_COLUMNS =
  'id, chain_id, sender, reference, purpose, "to", data, value, state, final, nonce, gas_limit, broadcast_at, not_before, attempts, failure, error, revert_data, mined_hash, mined_block, gas_used, cost_wei, mined_at, created_at, updated_at';
/** Columns that change when a transfer is sent again that failed before it had a nonce. */
const SENDER_REVIVAL = "state, data, attempts, not_before, failure, error, revert_data, updated_at";

/** Columns that accepting, retrying and reviewing an output change: never its owner, job, text or payment. */
const VERDICT_COURSE =
  "status, lease_until, not_before, attempts, tried_at, cause, runs, retries, final_verdict, error_message, accepted_at, evaluated_at, replaced_at, updated_at";

/** Columns that buying an appeal changes: never its times and its price. */
const APPEAL_COURSE =
  "state, appellant, owner, debit_id, payment_id, lease_until, opened_at, ended_at, updated_at";

/**
 * Every table of the schema `ahs` with the rights of each role, as GRANT takes them; a role without an entry has none. Operators'
 * commands run as the owner of all of them. Where not every row may be written, ROW_POLICIES says which.
 */
export const TABLE_RIGHTS: Readonly<Record<string, Readonly<Partial<Record<RoleName, string>>>>> = {
  migration: { ahs_index: READ, ahs_serve: READ, ahs_work: READ },
  chain_mark: { ahs_index: ALL, ahs_serve: READ, ahs_work: "select, update (updated_at)" },

  account_fact: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  contact: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  enrich_approval: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  enrich_block: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  enrich_cursor: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  enrich_death: { ahs_index: CLEAR, ahs_work: ALL },
  enrich_reading: { ahs_index: CLEAR, ahs_work: ALL },
  enrich_transfer: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  enrich_user_operation: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  enrich_wallet: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  feed_price: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  own_call: { ahs_index: CLEAR, ahs_serve: ALL, ahs_work: ALL },
  pending_fact: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  sampled_contact: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  wallet_delegation: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },

  agent_document: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  document_day: { ahs_index: CLEAR, ahs_work: ALL },
  probe: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  probe_schedule: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  registry_agent: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  registry_cursor: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  scan_grade: { ahs_index: CLEAR, ahs_work: ALL },
  scan_run: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },

  current_score: { ahs_index: CLEAR, ahs_serve: EDIT, ahs_work: ALL },
  score: { ahs_index: CLEAR, ahs_serve: EDIT, ahs_work: ALL },
  quarantine: { ahs_index: CLEAR, ahs_serve: ALL, ahs_work: ALL },
  input_file: { ahs_serve: APPEND, ahs_work: APPEND },
  epoch: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: EDIT },
  enrolment: { ahs_index: CLEAR, ahs_serve: EDIT, ahs_work: EDIT },
  stored_history: { ahs_index: CLEAR, ahs_serve: EDIT, ahs_work: EDIT },
  feedback: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: EDIT },
  validation_request: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: EDIT },
  publish_intent: { ahs_index: CLEAR, ahs_serve: EDIT, ahs_work: EDIT },
  sender_transaction: {
    ahs_index: CLEAR,
    ahs_serve: `select (${SENDER_COLUMNS}), insert, update (${SENDER_REVIVAL})`,
    ahs_work: EDIT,
  },
  unfollowed: { ahs_index: READ, ahs_serve: READ, ahs_work: READ },
  routing_promise: { ahs_index: CLEAR, ahs_serve: ALL, ahs_work: ALL },
  paid_feedback: { ahs_index: CLEAR, ahs_work: ALL },
  wallet_backing: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
  wallet_interest: { ahs_serve: EDIT, ahs_work: READ },
  wallet_label: { ahs_serve: ALL, ahs_work: ALL },

  sanctions_entry: { ahs_serve: READ, ahs_work: READ },
  sanctions_source: { ahs_serve: READ, ahs_work: READ },
  threat_entry: { ahs_serve: READ, ahs_work: READ },
  threat_list: { ahs_serve: READ, ahs_work: READ },
  sanctions_reading: { ahs_index: CLEAR, ahs_serve: EDIT, ahs_work: EDIT },

  api_key: { ahs_serve: EDIT, ahs_work: EDIT },
  key_credit: { ahs_serve: EDIT, ahs_work: APPEND },
  key_debit: { ahs_serve: EDIT, ahs_work: EDIT },
  payment: { ahs_serve: EDIT, ahs_work: ALL },
  payment_channel: { ahs_index: CLEAR, ahs_serve: EDIT, ahs_work: ALL },
  idempotent_answer: { ahs_serve: ALL, ahs_work: ALL },
  rate_bucket: { ahs_serve: ALL, ahs_work: ALL },
  sign_in_nonce: { ahs_serve: ALL, ahs_work: ALL },
  routing_policy: { ahs_serve: ALL },

  alert_subscription: { ahs_serve: ALL, ahs_work: ALL },
  webhook_endpoint: { ahs_serve: ALL, ahs_work: ALL },
  webhook_event: { ahs_serve: EDIT, ahs_work: ALL },
  webhook_attempt: { ahs_serve: READ, ahs_work: ALL },

  job_spec: {
    ahs_index: "select (job_chain_id), update (job_chain_id, job_escrow, job_id, registered_block)",
    ahs_serve: APPEND,
    ahs_work: ALL,
  },
  verdict: {
    ahs_index: "select (job_chain_id, replaced_at), update (replaced_at, updated_at)",
    ahs_serve: `select, insert, update (${VERDICT_COURSE}), delete`,
    ahs_work: EDIT,
  },
  output_text: { ahs_serve: APPEND, ahs_work: ALL },
  held_evidence: { ahs_serve: "select, insert, update (final_by)", ahs_work: ALL },
  role_call: { ahs_serve: READ, ahs_work: EDIT },
  text_erasure: { ahs_serve: APPEND, ahs_work: EDIT },
  verdict_run: { ahs_serve: APPEND, ahs_work: "select, insert, update (result, evidence)" },
  settlement: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: EDIT },
  settlement_check: {
    ahs_index: "select (chain_id), delete, update (status, reason, attempts, not_before, checked_at)",
    ahs_serve: "select, insert, update (run, status, reason, attempts, not_before, checked_at)",
    ahs_work: ALL,
  },
  appeal: { ahs_index: CLEAR, ahs_serve: `select, update (${APPEAL_COURSE})`, ahs_work: EDIT },
  hold_clock: { ahs_index: CLEAR, ahs_serve: READ, ahs_work: ALL },
};
