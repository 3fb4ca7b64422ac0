CREATE TABLE "ahs"."text_erasure" (
	"verdict_id" uuid PRIMARY KEY NOT NULL,
	"requested_by" text NOT NULL,
	"with_spec" boolean NOT NULL,
	"requested_at" timestamp with time zone NOT NULL,
	"erased_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "ahs"."text_erasure" ADD CONSTRAINT "text_erasure_verdict_id_verdict_id_fk" FOREIGN KEY ("verdict_id") REFERENCES "ahs"."verdict"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "text_erasure_due" ON "ahs"."text_erasure" USING btree ("requested_at") WHERE "ahs"."text_erasure"."erased_at" is null;