DROP INDEX "ahs"."enrich_approval_owner";--> statement-breakpoint
DROP INDEX "ahs"."pending_fact_due";--> statement-breakpoint
ALTER TABLE "ahs"."enrich_approval" DROP CONSTRAINT "enrich_approval_chain_id_block_log_index_pk";--> statement-breakpoint
ALTER TABLE "ahs"."enrich_approval" ADD COLUMN "subject" text;--> statement-breakpoint
ALTER TABLE "ahs"."enrich_approval" ADD COLUMN "own" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "ahs"."enrich_approval" "a" SET "own" = true
WHERE "sender" = "owner" OR EXISTS (
	SELECT FROM "ahs"."own_call" "c"
	WHERE "c"."chain_id" = "a"."chain_id" AND "c"."wallet" = "a"."owner" AND "c"."block" = "a"."block" AND "c"."hash" = "a"."transaction_hash"
);--> statement-breakpoint
DELETE FROM "ahs"."enrich_approval" "a" WHERE NOT "own" AND NOT EXISTS (
	SELECT FROM "ahs"."enrich_approval" "given"
	WHERE "given"."own" AND "given"."chain_id" = "a"."chain_id" AND "given"."owner" = "a"."owner" AND "given"."token" = "a"."token"
) AND NOT EXISTS (
	SELECT FROM "ahs"."enrich_wallet" "w"
	WHERE "w"."chain_id" = "a"."chain_id" AND "w"."wallet" = "a"."owner" AND "w"."past_next" IS NOT NULL
);--> statement-breakpoint
UPDATE "ahs"."enrich_approval" SET "subject" = CASE "kind" WHEN 'token' THEN "token_id"::text ELSE "spender" END;--> statement-breakpoint
DELETE FROM "ahs"."enrich_approval" "a" USING (
	SELECT "chain_id", "block", "log_index",
		row_number() OVER (PARTITION BY "chain_id", "owner", "token", "kind", "subject", "own" ORDER BY "block" DESC, "log_index" DESC) AS "age"
	FROM "ahs"."enrich_approval"
) "each"
WHERE "each"."age" > 1 AND "each"."chain_id" = "a"."chain_id" AND "each"."block" = "a"."block" AND "each"."log_index" = "a"."log_index";--> statement-breakpoint
DELETE FROM "ahs"."enrich_approval" "a" USING (
	SELECT "chain_id", "block", "log_index",
		row_number() OVER (PARTITION BY "chain_id", "owner", "own" ORDER BY "block" DESC, "log_index" DESC) AS "age"
	FROM "ahs"."enrich_approval"
) "each"
WHERE "each"."age" > 2000 AND "each"."chain_id" = "a"."chain_id" AND "each"."block" = "a"."block" AND "each"."log_index" = "a"."log_index";--> statement-breakpoint
ALTER TABLE "ahs"."enrich_approval" ALTER COLUMN "subject" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."enrich_approval" ALTER COLUMN "own" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "ahs"."enrich_approval" DROP COLUMN "sender";--> statement-breakpoint
ALTER TABLE "ahs"."enrich_approval" ADD CONSTRAINT "enrich_approval_chain_id_owner_token_kind_subject_own_pk" PRIMARY KEY("chain_id","owner","token","kind","subject","own");--> statement-breakpoint
ALTER TABLE "ahs"."enrich_transfer" ADD COLUMN "kept_until" bigint;--> statement-breakpoint
ALTER TABLE "ahs"."pending_fact" ADD COLUMN "own" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "enrich_transfer_kept" ON "ahs"."enrich_transfer" USING btree ("chain_id","kept_until") WHERE kept_until is not null;--> statement-breakpoint
CREATE INDEX "pending_fact_turn" ON "ahs"."pending_fact" USING btree ("chain_id","wallet","own" DESC NULLS LAST,"due_at");--> statement-breakpoint
UPDATE "ahs"."pending_fact" "p" SET "own" = true
WHERE "address" = "wallet" OR EXISTS (
	SELECT FROM "ahs"."own_call" "c"
	WHERE "c"."chain_id" = "p"."chain_id" AND "c"."wallet" = "p"."wallet" AND coalesce("c"."recipient", "c"."to") = "p"."address"
);
