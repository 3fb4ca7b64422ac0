import type { Answer, Body } from "./api-types.ts";

/** Evidence for a verdict on HOLD. */
export type EvidenceInput = Body<"/v1/verdicts/{verdict_id}/evidence", "post">;
export type StoredEvidence = Answer<"/v1/verdicts/{verdict_id}/evidence", "post">;

/** The job and output of a verdict, as they were sent. */
export type VerdictTexts = Answer<"/v1/verdicts/{verdict_id}/texts", "get">;

/** A request to erase the texts of a verdict. */
export type TextErasure = Answer<"/v1/verdicts/{verdict_id}/texts", "delete">;

/** A decision as a JWS in flattened JSON. */
export type Receipt = Answer<"/v1/verdicts/{verdict_id}/receipt", "get">;
