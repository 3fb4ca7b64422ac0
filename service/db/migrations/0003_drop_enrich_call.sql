DROP TABLE "ahs"."enrich_call" CASCADE;--> statement-breakpoint
TRUNCATE "ahs"."enrich_cursor", "ahs"."enrich_wallet", "ahs"."enrich_block", "ahs"."enrich_transfer", "ahs"."enrich_approval", "ahs"."enrich_user_operation";
