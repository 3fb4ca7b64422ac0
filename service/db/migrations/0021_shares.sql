ALTER TABLE "ahs"."enrolment" ADD COLUMN "requested_by" text;--> statement-breakpoint
ALTER TABLE "ahs"."verdict" ADD COLUMN "stake_micro_usd" numeric;--> statement-breakpoint
ALTER TABLE "ahs"."verdict" ADD COLUMN "expires_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ahs"."verdict" ADD COLUMN "run_tokens" integer;