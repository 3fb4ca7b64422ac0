ALTER TABLE "ahs"."probe_schedule" DROP CONSTRAINT "probe_schedule_chain_id_endpoint_pk";--> statement-breakpoint
ALTER TABLE "ahs"."probe_schedule" ADD CONSTRAINT "probe_schedule_chain_id_endpoint_kind_pk" PRIMARY KEY("chain_id","endpoint","kind");--> statement-breakpoint
ALTER TABLE "ahs"."probe" ADD COLUMN "kind" text;--> statement-breakpoint
ALTER TABLE "ahs"."probe_schedule" ADD COLUMN "answered" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "ahs"."probe_schedule" SET "answered" = "failing_since" IS NULL;