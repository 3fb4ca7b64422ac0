-- Each start of the scan writes the schedule anew from what is declared.
DELETE FROM "ahs"."probe_schedule";--> statement-breakpoint
ALTER TABLE "ahs"."probe" ADD COLUMN "quarters" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."probe_schedule" ADD COLUMN "account" text NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."probe_schedule" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ahs"."probe_schedule" ADD COLUMN "quarters" integer DEFAULT 1 NOT NULL;