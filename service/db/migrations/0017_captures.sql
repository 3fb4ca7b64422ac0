ALTER TABLE "ahs"."payment" ADD COLUMN "capture_state" text;--> statement-breakpoint
ALTER TABLE "ahs"."payment" ADD COLUMN "capture_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "payment_capture" ON "ahs"."payment" USING btree ("capture_at") WHERE "ahs"."payment"."capture_at" is not null;