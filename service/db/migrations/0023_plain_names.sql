ALTER TABLE "ahs"."kept_history" RENAME TO "stored_history";--> statement-breakpoint
ALTER TABLE "ahs"."stored_history" RENAME CONSTRAINT "kept_history_chain_id_wallet_pk" TO "stored_history_chain_id_wallet_pk";--> statement-breakpoint
ALTER TABLE "ahs"."enrich_transfer" RENAME COLUMN "kept_until" TO "stored_until";--> statement-breakpoint
ALTER INDEX "ahs"."enrich_transfer_kept" RENAME TO "enrich_transfer_stored_until";--> statement-breakpoint
ALTER TABLE "ahs"."hold_clock" RENAME COLUMN "review_told_at" TO "review_notified_at";
