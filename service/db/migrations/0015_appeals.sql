CREATE TABLE "ahs"."appeal" (
	"verdict_id" uuid PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"run" integer NOT NULL,
	"appeal_by" timestamp with time zone NOT NULL,
	"decide_by" timestamp with time zone NOT NULL,
	"state" text NOT NULL,
	"appellant" text,
	"owner" text,
	"units" integer,
	"debit_id" uuid,
	"payment_id" uuid,
	"lease_until" timestamp with time zone,
	"opened_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ahs"."appeal" ADD CONSTRAINT "appeal_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "appeal_unsettled" ON "ahs"."appeal" USING btree ("lease_until") WHERE "ahs"."appeal"."state" = 'unsettled';--> statement-breakpoint
CREATE INDEX "appeal_open" ON "ahs"."appeal" USING btree ("decide_by") WHERE "ahs"."appeal"."state" = 'open';--> statement-breakpoint
CREATE INDEX "appeal_ended" ON "ahs"."appeal" USING btree ("chain_id","ended_at") WHERE "ahs"."appeal"."ended_at" is not null;